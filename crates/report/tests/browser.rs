//! The page in a real browser: it must run without an error, draw little of much, and answer to mouse and keys.

use std::ffi::OsStr;
use std::path::Path;
use std::process::{Command, Stdio};

use labrys_report::html::Page;
use labrys_report::table::Cell;
use labrys_report::timeline::{Lane, Span};

mod sample;

/// A headless browser shows no frames unless somebody looks: drawing must not wait for them.
const FRAMES: &str = "<head><script>window.requestAnimationFrame = draw => setTimeout(draw, 1);</script>";

/// Acts on the page as a user would, and leaves what came of it in attributes of the root.
const USER: &str = r##"<script>
const root = document.documentElement, lanes = document.getElementById("lanes"), box = lanes.getBoundingClientRect();
const at = (type, x, y, more) => new PointerEvent(type, { clientX: box.left + x, clientY: box.top + y, bubbles: true, pointerId: 1, ...more });
lanes.setPointerCapture = () => {};
const pause = () => new Promise(done => setTimeout(done, 50));
(async () => {
  const before = root.dataset.drawn;
  lanes.dispatchEvent(at("pointermove", 150, 40));
  root.dataset.tip = document.querySelector("#tip .name").textContent;
  lanes.dispatchEvent(at("pointerdown", 150, 40));
  lanes.dispatchEvent(at("pointerup", 150, 40));
  root.dataset.details = document.querySelector("#details .name").textContent;
  for (let i = 0; i < 40; i++) lanes.dispatchEvent(new WheelEvent("wheel", { deltaY: -120, clientX: box.left + 300, clientY: box.top + 40 }));
  await pause();
  root.dataset.zoomed = root.dataset.drawn;
  lanes.dispatchEvent(new KeyboardEvent("keydown", { key: "0" }));
  await pause();
  root.dataset.restored = root.dataset.drawn === before;
  document.getElementById("search").value = "MATMUL_";
  document.getElementById("search").dispatchEvent(new Event("input"));
  document.getElementById("search").dispatchEvent(new KeyboardEvent("keydown", { key: "Enter" }));
  document.getElementById("show-peak").click();
  await pause();
  root.dataset.found = parseInt(document.getElementById("found").textContent);
  root.dataset.done = "yes";
})();
</script></body>"##;

#[test]
fn the_page_runs() {
    for (ops, devices) in [(1, 1), (160, 4), (100_000, 4)] {
        let page = sample::page(ops, devices);
        let spans = page.timeline.lanes.iter().flat_map(|lane| &lane.spans);
        let named = spans.filter(|span| span.name.contains("MatMul_")).count();
        let html = labrys_report::html::page(&page);
        let Some(root) = root_of(&html.replace("<head>", FRAMES).replace("</body>", USER)) else { return };
        let number = |name| attribute(&root, name).and_then(|value| value.parse::<usize>().ok());
        assert_eq!(attribute(&root, "data-error"), None, "{root}");
        assert_eq!(attribute(&root, "data-ready"), Some("yes"), "{root}");
        assert_eq!(attribute(&root, "data-done"), Some("yes"), "{root}");
        assert_eq!(attribute(&root, "data-restored"), Some("true"), "{root}");
        assert_eq!(number("data-found"), Some(named), "{ops} ops: {root}");
        assert!(number("data-drawn").is_some_and(|drawn| drawn > 0 && drawn < 6_000), "{ops} ops: {root}");
        assert!(number("data-zoomed") < number("data-drawn") || ops == 1, "{ops} ops: {root}");
        assert!(attribute(&root, "data-tip") == attribute(&root, "data-details"), "{ops} ops: {root}");
    }
}

#[test]
fn an_empty_page_runs() {
    let Some(root) = root_of(&labrys_report::html::page(&Page::default())) else { return };
    assert_eq!((attribute(&root, "data-error"), attribute(&root, "data-ready")), (None, Some("yes")), "{root}");
}

#[test]
fn names_are_never_run() {
    const NAME: &str = "</title></script><script>document.documentElement.dataset.owned='yes'</script>\
                        <img src='x' onerror='document.documentElement.dataset.owned=1'>\"'><!--";
    let span = Span { name: NAME.into(), category: NAME.into(), duration: 1_000_000, ..Span::default() };
    let mut page = sample::page(50, 2);
    (page.title, page.subtitle, page.footer) = (NAME.into(), NAME.into(), NAME.into());
    page.facts.push((NAME.into(), NAME.into()));
    page.timeline.lanes.insert(0, Lane { name: NAME.into(), spans: vec![span] });
    page.timeline.counters[0].name = NAME.into();
    page.charts[0].series[0].name = NAME.into();
    page.tables[0].push([Cell::from(NAME)]);
    let Some(root) = root_of(&labrys_report::html::page(&page).replace("<head>", FRAMES).replace("</body>", USER))
    else {
        return;
    };
    assert_eq!(attribute(&root, "data-owned"), None, "{root}");
    assert_eq!((attribute(&root, "data-error"), attribute(&root, "data-done")), (None, Some("yes")), "{root}");
}

/// The root element's tag after the page has run; none, loudly, where there is no browser.
#[allow(clippy::print_stderr)]
fn root_of(html: &str) -> Option<String> {
    let Some(browser) = browser() else {
        eprintln!("SKIPPED: no chromium found; install it, or name it in LABRYS_CHROMIUM");
        return None;
    };
    let folder = tempfile::tempdir().expect("a temporary folder");
    let file = folder.path().join("page.html");
    std::fs::write(&file, html).expect("the page is written");
    let dom = dump_dom(&browser, folder.path(), &file);
    let tag = dom.split_once("<html").and_then(|(_, rest)| rest.split_once('>')).map(|(tag, _)| tag.to_string());
    Some(tag.unwrap_or_else(|| panic!("{browser} gave no page: {dom:.300}")))
}

fn browser() -> Option<String> {
    let named = std::env::var("LABRYS_CHROMIUM").ok();
    let usual = ["chromium", "chromium-browser", "google-chrome"].map(String::from);
    named.into_iter().chain(usual).find(|name| {
        let version = Command::new(name).arg("--version").stdout(Stdio::null()).stderr(Stdio::null()).status();
        version.is_ok_and(|status| status.success())
    })
}

fn dump_dom(browser: &str, folder: &Path, file: &Path) -> String {
    let flags = [
        "--headless",
        "--no-sandbox",
        "--disable-gpu",
        "--no-first-run",
        "--disable-background-networking",
        "--disable-component-update",
        "--disable-sync",
        "--window-size=1400,1600",
        "--virtual-time-budget=5000",
        "--dump-dom",
    ];
    let mut profile = OsStr::new("--user-data-dir=").to_os_string();
    profile.push(folder.join("profile"));
    let output = Command::new(browser).args(flags).arg(profile).arg(file).output().expect("the browser runs");
    String::from_utf8_lossy(&output.stdout).into_owned()
}

fn attribute<'a>(tag: &'a str, name: &str) -> Option<&'a str> {
    let (_, rest) = tag.split_once(&format!(" {name}=\""))?;
    rest.split_once('"').map(|(value, _)| value)
}
