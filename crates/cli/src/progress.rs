//! Progress on a terminal: the best result so far, by whom, and since when.

use indicatif::{ProgressBar, ProgressStyle};
use labrys_search::runner::Listener;
use std::io::IsTerminal as _;
use std::time::Duration;

/// A spinner that shows each new best; nothing unless stderr is a terminal.
pub(crate) struct Progress(Option<ProgressBar>);

impl Progress {
    pub(crate) fn new(quiet: bool) -> Self {
        if quiet || !std::io::stderr().is_terminal() || std::env::var_os("LABRYS_NO_PROGRESS").is_some() {
            return Self(None);
        }
        let bar = ProgressBar::new_spinner();
        if let Ok(style) = ProgressStyle::with_template("{spinner} {elapsed} {msg}") {
            bar.set_style(style);
        }
        bar.enable_steady_tick(Duration::from_millis(100));
        Self(Some(bar))
    }

    /// Tells the spinner of each incumbent, shown by `show`.
    pub(crate) fn listener(&self, show: impl Fn(u64) -> String + Send + 'static) -> Option<Listener> {
        let bar = self.0.clone()?;
        Some(Box::new(move |incumbent| {
            bar.set_message(format!("best {} by {}", show(incumbent.score.value), incumbent.by));
        }))
    }

    /// Says what is going on.
    pub(crate) fn message(&self, text: String) {
        if let Some(bar) = &self.0 {
            bar.set_message(text);
        }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        if let Some(bar) = &self.0 {
            bar.finish_and_clear();
        }
    }
}
