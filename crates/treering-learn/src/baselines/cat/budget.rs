//! How many synthetic rows each class of a task gets.

/// Shares `budget` rows among classes as they are among the train rows: rounded down, at least one each, and what is left over goes round
/// from the first class on. Where the minima alone exceed the budget they are kept.
pub fn sizes(budget: usize, counts: &[usize]) -> Vec<usize> {
    let all: usize = counts.iter().sum::<usize>().max(1);
    let share = |&count: &usize| (budget as u128 * count as u128 / all as u128).max(1) as usize;
    let mut sizes: Vec<usize> = counts.iter().map(share).collect();
    let left = budget.saturating_sub(sizes.iter().sum());
    let classes = sizes.len();
    for at in 0..left {
        sizes[at % classes] += 1;
    }
    sizes
}

#[cfg(test)]
mod tests {
    use super::sizes;

    #[test]
    fn shares_are_rounded_down_and_the_rest_goes_round() {
        assert_eq!(sizes(10, &[50, 50]), [5, 5]);
        // 3.33 each: one row is left for the first class.
        assert_eq!(sizes(10, &[7, 7, 7]), [4, 3, 3]);
        assert_eq!(sizes(11, &[7, 7, 7]), [4, 4, 3]);
        assert_eq!(sizes(10, &[90, 10]), [9, 1]);
    }

    #[test]
    fn every_class_has_a_row_even_beyond_the_budget() {
        assert_eq!(sizes(4, &[1000, 1, 1, 1]), [3, 1, 1, 1]);
        assert_eq!(sizes(2, &[5, 5, 5]), [1, 1, 1]);
        assert_eq!(sizes(60, &[1]), [60]);
    }
}
