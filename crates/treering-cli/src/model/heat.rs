//! A square of distances as shades, for a terminal.

/// From near to far.
const SHADES: [char; 5] = ['█', '▓', '▒', '░', '·'];

/// One line a row; near is dark, and far is relative to the largest distance of all.
pub(super) fn heat_map(distances: &[Vec<f64>], names: &[String]) -> String {
    let largest = distances.iter().flatten().copied().fold(0.0, f64::max);
    let width = names.iter().map(|name| name.chars().count()).max();
    let width = width.unwrap_or(0);
    let mut text = String::new();
    for (row, name) in distances.iter().zip(names) {
        text.push_str(&format!("{name:width$}  "));
        for &distance in row {
            let shade = shade(distance, largest);
            text.extend([shade, shade]);
        }
        text.push('\n');
    }
    let [near, .., far] = SHADES;
    text.push_str(&format!(
        "{:width$}  {near} the same   {far} as far as any two ({largest:.3})\n",
        ""
    ));
    text
}

fn shade(distance: f64, largest: f64) -> char {
    let share = match largest > 0.0 {
        true => distance / largest,
        false => 0.0,
    };
    let at = (share * (SHADES.len() - 1) as f64).round() as usize;
    SHADES[at.min(SHADES.len() - 1)]
}

/// The two that are nearest to each other.
pub(super) fn nearest_pair(distances: &[Vec<f64>]) -> Option<(usize, usize, f64)> {
    let pairs = distances.iter().enumerate().flat_map(|(a, row)| {
        let earlier = row.iter().take(a).enumerate();
        earlier.map(move |(b, &distance)| (b, a, distance))
    });
    pairs.min_by(|a, b| a.2.total_cmp(&b.2))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn near_is_dark_and_far_is_light() {
        let distances = vec![
            vec![0.0, 1.0, 4.0],
            vec![1.0, 0.0, 2.0],
            vec![4.0, 2.0, 0.0],
        ];
        let names = ["a", "b", "long"].map(String::from);
        let map = heat_map(&distances, &names);
        let lines: Vec<&str> = map.lines().collect();
        assert_eq!(lines[0], "a     ██▓▓··");
        assert_eq!(lines[1], "b     ▓▓██▒▒");
        assert_eq!(nearest_pair(&distances), Some((0, 1, 1.0)));
        assert_eq!(nearest_pair(&[vec![0.0]]), None);
        assert!(heat_map(&[vec![0.0]], &["x".into()]).starts_with("x  ██"));
    }
}
