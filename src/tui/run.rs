//! The cockpit on a real terminal: the only part of this room that waits, reads a clock or writes anything.

use super::{
    api::{Feed, Intent, Settings},
    cockpit::{Cockpit, Outward, SettingsError},
    widgets::code,
};
use futures::StreamExt as _;
use ratatui::{
    Terminal,
    backend::CrosstermBackend,
    crossterm::{
        cursor,
        event::{
            DisableBracketedPaste, DisableMouseCapture, EnableBracketedPaste, EnableMouseCapture, Event, EventStream,
            KeyboardEnhancementFlags, PopKeyboardEnhancementFlags, PushKeyboardEnhancementFlags,
        },
        execute,
        terminal::{self, EnterAlternateScreen, LeaveAlternateScreen},
    },
    layout::Rect,
};
use std::{
    io::{self, IsTerminal as _, Stdout, Write as _},
    sync::{
        Arc, Once,
        atomic::{AtomicBool, Ordering},
    },
    task::Poll,
    time::Instant,
};
use tokio::{
    signal::unix::{Signal, SignalKind, signal},
    sync::{Notify, mpsc},
};

#[derive(Debug, thiserror::Error)]
pub enum TuiError {
    #[error("this is not a terminal (for use without one: `weal run`, `weal demo --headless`)")]
    NotATerminal,
    #[error(transparent)]
    Settings(#[from] SettingsError),
    /// The panic gave the terminal back; to go on drawing would spoil what it says.
    #[error("a part of weal broke (see above); what was recorded is in the log and can be resumed")]
    Broken,
    #[error("the terminal: {0}")]
    Terminal(#[from] io::Error),
}

/// Shows the cockpit until the person quits, the feeds end, or the process is told to end. The terminal is as it
/// was before when this returns, however it returns.
pub async fn run(
    mut feeds: mpsc::UnboundedReceiver<Feed>,
    intents: mpsc::UnboundedSender<Intent>,
    settings: Settings,
) -> Result<(), TuiError> {
    if !io::stdin().is_terminal() || !io::stdout().is_terminal() {
        return Err(TuiError::NotATerminal);
    }
    let mut cockpit = Cockpit::new(settings)?;
    let mut ends = Ends::new()?;
    let mut seat = Seat::take()?;
    let mut events = EventStream::new();
    let grammars = load_grammars(&cockpit);
    let began = Instant::now();
    loop {
        if !TAKEN.load(Ordering::SeqCst) {
            return Err(TuiError::Broken);
        }
        seat.draw(&mut cockpit)?;
        let wake = tokio::select! {
            biased;
            () = ends.any() => Wake::End,
            event = events.next() => event.map_or(Wake::End, Wake::Event),
            feed = feeds.recv() => feed.map_or(Wake::End, Wake::Feed),
            () = grammars.notified() => Wake::Grammars,
        };
        let now = u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX);
        // everything that is there already is taken in before one draw
        let mut next = Some(wake);
        while let Some(wake) = next {
            match wake {
                Wake::End => return quit(&intents),
                Wake::Grammars => cockpit.colour_code(),
                Wake::Feed(feed) => {
                    if !cockpit.feed(feed, now) {
                        return Ok(());
                    }
                }
                Wake::Event(event) => {
                    for outward in cockpit.event(&event?, now) {
                        match outward {
                            Outward::Tell(Intent::Quit) => return quit(&intents),
                            Outward::Tell(intent) => {
                                if intents.send(intent).is_err() {
                                    return Ok(());
                                }
                            }
                            Outward::Suspend => {
                                drop(events);
                                seat = seat.suspend()?;
                                events = EventStream::new();
                            }
                            Outward::Redraw => seat.clear()?,
                        }
                    }
                }
            }
            next = match ready(&mut events).await {
                Some(event) => Some(event.map_or(Wake::End, Wake::Event)),
                None => feeds.try_recv().ok().map(Wake::Feed),
            };
        }
    }
}

enum Wake {
    Event(io::Result<Event>),
    Feed(Feed),
    Grammars,
    End,
}

/// Loads what colours code, beside the first frames. Where that fails nobody is told, and code stays plain.
fn load_grammars(cockpit: &Cockpit) -> Arc<Notify> {
    let loaded = Arc::new(Notify::new());
    let (tell, theme) = (Arc::clone(&loaded), cockpit.theme.clone());
    std::thread::spawn(move || {
        code::load_grammars(&theme);
        tell.notify_one();
    });
    loaded
}

/// What the stream holds now, without waiting. Polled with the task's own waker: the stream remembers the first one
/// it was given until an event came, so any other would lose the wake-up.
async fn ready(events: &mut EventStream) -> Option<Option<io::Result<Event>>> {
    std::future::poll_fn(|cx| {
        Poll::Ready(match events.poll_next_unpin(cx) {
            Poll::Ready(event) => Some(event),
            Poll::Pending => None,
        })
    })
    .await
}

fn quit(intents: &mpsc::UnboundedSender<Intent>) -> Result<(), TuiError> {
    // nobody listens any more: then there is nobody to tell
    let _ = intents.send(Intent::Quit);
    Ok(())
}

/// Signals that end the process.
struct Ends {
    terminate: Signal,
    hang_up: Signal,
}

impl Ends {
    fn new() -> io::Result<Ends> {
        Ok(Ends { terminate: signal(SignalKind::terminate())?, hang_up: signal(SignalKind::hangup())? })
    }

    async fn any(&mut self) {
        tokio::select! {
            _ = self.terminate.recv() => {}
            _ = self.hang_up.recv() => {}
        }
    }
}

/// The terminal is ours.
static TAKEN: AtomicBool = AtomicBool::new(false);

/// The terminal while it is ours; gives it back when dropped, and on panic.
struct Seat {
    terminal: Terminal<CrosstermBackend<Stdout>>,
}

impl Seat {
    fn take() -> io::Result<Seat> {
        static HOOK: Once = Once::new();
        HOOK.call_once(|| {
            let before = std::panic::take_hook();
            std::panic::set_hook(Box::new(move |panic| {
                give_back();
                before(panic);
            }));
        });
        TAKEN.store(true, Ordering::SeqCst);
        let taken = enter().and_then(|()| Terminal::new(CrosstermBackend::new(io::stdout())));
        if taken.is_err() {
            give_back();
        }
        let mut seat = Seat { terminal: taken? };
        seat.clear()?;
        Ok(seat)
    }

    /// Everything is drawn anew next time. (`Terminal::clear` would ask the terminal for its cursor and wait for an
    /// answer that the event stream takes.)
    fn clear(&mut self) -> io::Result<()> {
        let size = self.terminal.size()?;
        self.terminal.resize(Rect::new(0, 0, size.width, size.height))
    }

    fn draw(&mut self, cockpit: &mut Cockpit) -> io::Result<()> {
        self.terminal.draw(|frame| {
            let screen = frame.area();
            cockpit.draw(screen, frame.buffer_mut());
            if let Some(cursor) = cockpit.ui.shown.cursor {
                frame.set_cursor_position(cursor);
            }
        })?;
        Ok(())
    }

    /// Gives the terminal back, stops, and takes it again when continued.
    fn suspend(self) -> io::Result<Seat> {
        drop(self);
        rustix::process::kill_process(rustix::process::getpid(), rustix::process::Signal::TSTP)?;
        Seat::take()
    }
}

impl Drop for Seat {
    fn drop(&mut self) {
        give_back();
    }
}

fn enter() -> io::Result<()> {
    terminal::enable_raw_mode()?;
    execute!(
        io::stdout(),
        EnterAlternateScreen,
        EnableBracketedPaste,
        EnableMouseCapture,
        PushKeyboardEnhancementFlags(KeyboardEnhancementFlags::DISAMBIGUATE_ESCAPE_CODES),
    )
}

/// As it was before; each part is tried whatever became of the others. Doing it twice is doing it once.
fn give_back() {
    if !TAKEN.swap(false, Ordering::SeqCst) {
        return;
    }
    let mut out = io::stdout();
    let _ = execute!(out, PopKeyboardEnhancementFlags);
    let _ = execute!(out, DisableMouseCapture, DisableBracketedPaste, LeaveAlternateScreen, cursor::Show);
    let _ = terminal::disable_raw_mode();
    let _ = out.flush();
}
