//! OR-Tools' shared library, loaded at run time: bytes of a model in, bytes of a response out. The only unsafe code of the crate.

// The C interface of a library that is found at run time cannot be called otherwise.
#![allow(unsafe_code)]

use super::Error;
use labrys_search::Stopwatch;
use std::ffi::{c_int, c_void};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// How often the clock and the interrupt flag are looked at.
const POLL: Duration = Duration::from_millis(10);

/// `SolveCpNewEnv`.
type NewEnv = unsafe extern "C" fn() -> *mut c_void;
/// `SolveCpDestroyEnv` and `SolveCpStopSearch`.
type OnEnv = unsafe extern "C" fn(*mut c_void);
/// `SolveCpInterruptible`: environment, model, parameters, response.
type Solve =
    unsafe extern "C" fn(*mut c_void, *const u8, c_int, *const u8, c_int, response: *mut *mut u8, length: *mut c_int);

unsafe extern "C" {
    /// Of the C library, with which OR-Tools allocates its response.
    fn free(pointer: *mut c_void);
}

/// The functions of the C interface of CP-SAT (`cp_solver_c.h` of OR-Tools 9.15).
#[derive(Clone, Copy, Debug)]
pub struct Library {
    new_env: NewEnv,
    destroy_env: OnEnv,
    stop: OnEnv,
    solve: Solve,
}

impl Library {
    /// Loads the library: `path` is its file, or the folder of an installed Python package `ortools`. It stays loaded, since
    /// its threads and static objects do not survive being unloaded.
    ///
    /// # Errors
    /// There is no such file, it cannot be loaded, or it is no OR-Tools with CP-SAT.
    pub fn open(path: &Path) -> Result<Self, Error> {
        let file = find(path)?;
        let failed = |source| Error::Load { path: file.clone(), source };
        // SAFETY: loading runs the library's initialisers; that the user named OR-Tools is all that can be known here.
        let library = unsafe { libloading::Library::new(&file) }.map_err(failed)?;
        let library: &'static libloading::Library = Box::leak(Box::new(library));
        // SAFETY: the types are those that `cp_solver_c.h` declares for these names.
        unsafe {
            Ok(Self {
                new_env: *library.get::<NewEnv>(b"SolveCpNewEnv\0").map_err(failed)?,
                destroy_env: *library.get::<OnEnv>(b"SolveCpDestroyEnv\0").map_err(failed)?,
                stop: *library.get::<OnEnv>(b"SolveCpStopSearch\0").map_err(failed)?,
                solve: *library.get::<Solve>(b"SolveCpInterruptible\0").map_err(failed)?,
            })
        }
    }

    /// Solves an encoded model; `stopwatch` ends the search early with the best so far.
    pub(super) fn solve(&self, model: &[u8], parameters: &[u8], stopwatch: &Stopwatch) -> Result<Vec<u8>, Error> {
        let environment = Environment::new(self);
        let done = AtomicBool::new(false);
        std::thread::scope(|scope| {
            let watch = scope.spawn(|| {
                while !done.load(Ordering::Acquire) {
                    if stopwatch.rings() {
                        return environment.stop();
                    }
                    std::thread::park_timeout(POLL);
                }
            });
            let response = environment.solve(model, parameters);
            done.store(true, Ordering::Release);
            watch.thread().unpark();
            response
        })
    }
}

/// Names that the library has on Linux, macOS and Windows, without version numbers.
const STEMS: [&str; 2] = ["libortools", "ortools"];
const EXTENSIONS: [&str; 3] = ["so", "dylib", "dll"];

/// The library's file: `path` itself, or one in its folder or in the hidden one where Python wheels keep their libraries.
fn find(path: &Path) -> Result<PathBuf, Error> {
    if path.is_file() {
        return Ok(path.to_owned());
    }
    let is_library = |file: &PathBuf| {
        let name = file.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        let mut parts = name.split('.');
        parts.next().is_some_and(|stem| STEMS.contains(&stem)) && parts.any(|part| EXTENSIONS.contains(&part))
    };
    for folder in [path.join(".libs"), path.to_owned()] {
        let files = std::fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
        // The least name, so that the choice does not hang on the order of the folder.
        if let Some(file) = files.filter(is_library).min() {
            return Ok(file);
        }
    }
    Err(Error::NotFound { path: path.to_owned() })
}

/// One interruptible search.
struct Environment<'l> {
    library: &'l Library,
    pointer: *mut c_void,
}

// SAFETY: what threads share is `stop`, which only raises an atomic flag inside the environment.
unsafe impl Sync for Environment<'_> {}

impl<'l> Environment<'l> {
    fn new(library: &'l Library) -> Self {
        // SAFETY: takes nothing; the pointer is destroyed once, in `drop`.
        Self { library, pointer: unsafe { (library.new_env)() } }
    }

    fn stop(&self) {
        // SAFETY: the environment lives until `drop`, and stopping is what other threads may do with it.
        unsafe { (self.library.stop)(self.pointer) }
    }

    fn solve(&self, model: &[u8], parameters: &[u8]) -> Result<Vec<u8>, Error> {
        let length = |bytes: &[u8]| c_int::try_from(bytes.len()).map_err(|_| Error::TooLarge { bytes: bytes.len() });
        let (mut response, mut response_length) = (std::ptr::null_mut(), 0);
        // SAFETY: both inputs are readable for the lengths given, and both outputs are writable; the call keeps none of them.
        unsafe {
            (self.library.solve)(
                self.pointer,
                model.as_ptr(),
                length(model)?,
                parameters.as_ptr(),
                length(parameters)?,
                &raw mut response,
                &raw mut response_length,
            );
        }
        let Some(length) = usize::try_from(response_length).ok().filter(|_| !response.is_null()) else {
            return Err(Error::NoResponse);
        };
        // SAFETY: the call has made `response` a `malloc`ed buffer of that length, which is ours to free.
        unsafe {
            let bytes = std::slice::from_raw_parts(response, length).to_vec();
            free(response.cast());
            Ok(bytes)
        }
    }
}

impl Drop for Environment<'_> {
    fn drop(&mut self) {
        // SAFETY: made by `new_env`, destroyed nowhere else, and no search of it is running.
        unsafe { (self.library.destroy_env)(self.pointer) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_the_library_in_a_wheel_and_names_what_is_missing() {
        let folder = std::env::temp_dir().join(format!("labrys-ortools-{}", std::process::id()));
        std::fs::create_dir_all(folder.join(".libs")).unwrap();
        assert!(matches!(find(&folder), Err(Error::NotFound { path }) if path == folder));
        for name in ["libabsl_base.so.2508", "libortools.so.9", "libortools.so.9.15.txt"] {
            std::fs::write(folder.join(".libs").join(name), "no library").unwrap();
        }
        assert_eq!(find(&folder).unwrap(), folder.join(".libs/libortools.so.9"));
        assert!(matches!(Library::open(&folder), Err(Error::Load { .. })));
        std::fs::remove_dir_all(&folder).unwrap();
    }
}
