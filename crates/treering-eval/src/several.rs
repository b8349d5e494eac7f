//! Progress of tasks that are learned in several goes.

use treering_data::Progress;
use treering_learn::PRETRAINING;

/// Some tasks of several: whoever listens hears of them as a part of all.
pub struct Several<'a> {
    /// Who listens.
    pub inner: &'a dyn Progress,
    /// Tasks that were there before.
    pub before: usize,
    /// Tasks that are here.
    pub here: usize,
    /// All tasks.
    pub all: usize,
}

impl Progress for Several<'_> {
    fn begin(&self, what: &str, total: u64) {
        let is_all = self.here == self.all || what == PRETRAINING;
        if is_all || total == 0 {
            return self.inner.begin(what, total);
        }
        let each = total.div_ceil(self.here as u64);
        self.inner.begin(what, each * self.all as u64);
        self.inner.resume(each * self.before as u64);
    }

    fn advance(&self, by: u64) {
        self.inner.advance(by);
    }

    fn end(&self) {
        self.inner.end();
    }
}
