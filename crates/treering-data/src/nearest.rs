//! "Did you mean ...?"

/// Up to three of `known` that are close to `text`, closest first.
///
/// # Example
/// ```
/// assert_eq!(treering_data::nearest("dmeo", ["demo", "arxiv-like"]), ["demo"]);
/// ```
pub fn nearest<'a>(text: &str, known: impl IntoIterator<Item = &'a str>) -> Vec<String> {
    let allowed = text.chars().count() / 3 + 1;
    let mut near: Vec<(usize, &str)> = known
        .into_iter()
        .map(|name| (distance(&text.to_lowercase(), &name.to_lowercase()), name))
        .filter(|(distance, name)| {
            let begins = !text.is_empty() && name.to_lowercase().starts_with(&text.to_lowercase());
            *distance <= allowed || begins
        })
        .collect();
    near.sort();
    near.into_iter()
        .take(3)
        .map(|(_, name)| name.to_owned())
        .collect()
}

/// Edits, swaps of neighbours among them, that turn one text into the other. Long texts are compared by their beginnings.
fn distance(a: &str, b: &str) -> usize {
    let a: Vec<char> = a.chars().take(64).collect();
    let b: Vec<char> = b.chars().take(64).collect();
    let mut rows: Vec<Vec<usize>> = vec![(0..=b.len()).collect()];
    for i in 1..=a.len() {
        let mut row = vec![i];
        for j in 1..=b.len() {
            let change = rows[i - 1][j - 1] + usize::from(a[i - 1] != b[j - 1]);
            let mut best = change.min(row[j - 1] + 1).min(rows[i - 1][j] + 1);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                best = best.min(rows[i - 2][j - 2] + 1);
            }
            row.push(best);
        }
        rows.push(row);
    }
    rows[a.len()][b.len()]
}
