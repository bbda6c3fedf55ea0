//! Ctrl-C and SIGTERM: once asks the search for its best result so far, twice ends the program with exit code 130.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// The flag that the first signal raises.
pub(crate) fn flag() -> Arc<AtomicBool> {
    let flag = Arc::new(AtomicBool::new(false));
    let raised = Arc::clone(&flag);
    let handler = move || {
        if raised.swap(true, Ordering::SeqCst) {
            #[allow(clippy::exit)] // the user insists
            std::process::exit(130);
        }
    };
    // Without a handler the signal simply ends the program, which is the best that is left.
    _ = ctrlc::set_handler(handler);
    flag
}
