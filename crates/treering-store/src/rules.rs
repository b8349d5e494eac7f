//! What names may be, and what must be unique in a model. Asked before a commit, and of every manifest that is read.

use std::collections::{HashMap, HashSet};

use crate::error::Fault;
use crate::manifest::RingEntry;

/// The longest name, in bytes.
const LONGEST: usize = 200;

type Check = Result<(), Fault>;

/// Refuses names that a person could not see, write or tell apart in a table; asked by every commit, and by callers before long work.
///
/// # Errors
/// [`Fault::BadName`].
pub fn check_name(what: &'static str, name: &str) -> Check {
    let why = if name.is_empty() {
        "it is empty"
    } else if name.len() > LONGEST {
        "it is longer than 200 bytes"
    } else if name.chars().any(char::is_control) {
        "it has control characters in it"
    } else {
        return Ok(());
    };
    let name = name.to_owned();
    Err(Fault::BadName { what, name, why })
}

/// What rings are called where nobody says: `task-N`, from the number of the next ring on, without those that are taken.
///
/// # Example
/// ```
/// let mut names = treering_store::free_names(2, &["task-3", "birds"]);
/// assert_eq!(names.next().as_deref(), Some("task-2"));
/// assert_eq!(names.next().as_deref(), Some("task-4"));
/// ```
pub fn free_names<'a>(next: u32, taken: &'a [&'a str]) -> impl Iterator<Item = String> + 'a {
    let name = |number: u32| format!("task-{number}");
    (next..)
        .map(name)
        .filter(|name| !taken.contains(&&name[..]))
}

/// Names of rings are unique, and a class is in one ring only: nobody says at prediction time which of two is meant.
pub(crate) fn check_rings(rings: &[RingEntry]) -> Check {
    let mut names: HashSet<&str> = HashSet::new();
    let mut classes: HashMap<&str, &str> = HashMap::new();
    for ring in rings {
        check_name("ring", &ring.name)?;
        if !names.insert(&ring.name) {
            let name = ring.name.clone();
            return Err(Fault::DuplicateName { name });
        }
        for class in &ring.classes {
            check_name("class", class)?;
            if let Some(first) = classes.insert(class, &ring.name) {
                return Err(Fault::DuplicateClass {
                    class: class.clone(),
                    ring: first.to_owned(),
                    other: ring.name.clone(),
                });
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_visible_and_short() {
        for name in ["a", "日本", "with spaces, and / signs", &"x".repeat(200)] {
            assert!(check_name("ring", name).is_ok(), "{name}");
        }
        for name in ["", "a\nb", "\u{7f}", "a\0", &"é".repeat(101)] {
            assert!(check_name("ring", name).is_err(), "{name}");
        }
    }
}
