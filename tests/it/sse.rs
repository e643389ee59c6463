//! A scripted server on a real socket that speaks chat completions as real servers do, faults included: pauses,
//! garbage, cuts, hanging. It records what it was asked.

use serde_json::{Value, json};
use std::{
    collections::{BTreeMap, VecDeque},
    sync::{Arc, Mutex},
    time::Duration,
};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpListener, TcpStream},
    sync::watch,
    task::JoinHandle,
};

/// Longer than anything here takes; a wait that reaches it is a failure.
pub const DEADLINE: Duration = Duration::from_secs(20);

/// One request as it came in.
#[derive(Debug, Clone)]
pub struct Seen {
    pub method: String,
    pub path: String,
    /// Names in lower case.
    pub headers: BTreeMap<String, String>,
    /// `Null` where there was none or no JSON.
    pub body: Value,
}

/// What the server does next while it answers.
#[derive(Debug, Clone)]
pub enum Step {
    /// `data: …` and a blank line.
    Event(String),
    /// Bytes as they are.
    Bytes(Vec<u8>),
    Pause(Duration),
    /// Nothing more, until the client closes.
    Hang,
    /// The connection ends here, unfinished.
    Cut,
}

/// The answer to one request.
#[derive(Debug, Clone)]
pub struct Answer {
    status: u16,
    headers: Vec<(String, String)>,
    steps: Vec<Step>,
    /// Ends by closing instead of by a last chunk.
    unframed: bool,
}

impl Answer {
    /// A stream of these chunks (see [`delta`]), ended by `[DONE]`.
    pub fn stream(chunks: impl IntoIterator<Item = Value>) -> Self {
        let done = Step::Event("[DONE]".into());
        Answer::steps(chunks.into_iter().map(|c| Step::Event(c.to_string())).chain([done]))
    }

    /// A stream that does exactly this.
    pub fn steps(steps: impl IntoIterator<Item = Step>) -> Self {
        let headers = vec![("content-type".into(), "text/event-stream".into())];
        Answer { status: 200, headers, steps: steps.into_iter().collect(), unframed: false }
    }

    /// One JSON document.
    pub fn json(status: u16, body: &Value) -> Self {
        Answer::text(status, "application/json", &body.to_string())
    }

    pub fn text(status: u16, kind: &str, body: &str) -> Self {
        let headers = vec![("content-type".into(), kind.into())];
        Answer { status, headers, steps: vec![Step::Bytes(body.into())], unframed: false }
    }

    /// A streamed text that comes to its end.
    pub fn says(text: &str) -> Self {
        Answer::stream([delta(json!({ "content": text })), finish("stop")])
    }

    /// Streamed calls: name and arguments of each.
    pub fn calls(calls: &[(&str, Value)]) -> Self {
        let pieces = calls.iter().enumerate().map(|(index, (name, args))| {
            let function = json!({ "name": name, "arguments": args.to_string() });
            let id = format!("call_{}_{index}", weal::domain::Digest::of_json(args).short());
            delta(json!({ "tool_calls": [{ "index": index, "id": id, "type": "function", "function": function }] }))
        });
        Answer::stream(pieces.chain([finish("tool_calls")]))
    }

    /// Takes the request and never says a word.
    pub fn mute() -> Self {
        Answer { status: 0, headers: Vec::new(), steps: Vec::new(), unframed: true }
    }

    pub fn header(mut self, name: &str, value: &str) -> Self {
        self.headers.push((name.into(), value.into()));
        self
    }

    pub fn unframed(mut self) -> Self {
        self.unframed = true;
        self
    }
}

/// A chunk with this delta.
pub fn delta(delta: Value) -> Value {
    json!({ "id": "c", "object": "chat.completion.chunk", "created": 1, "model": "m",
        "choices": [{ "index": 0, "delta": delta, "finish_reason": null }] })
}

/// The chunk that says why a reply ends.
pub fn finish(reason: &str) -> Value {
    json!({ "id": "c", "choices": [{ "index": 0, "delta": {}, "finish_reason": reason }] })
}

/// The chunk with token counts.
pub fn usage(prompt: u64, completion: u64) -> Value {
    json!({ "id": "c", "choices": [], "usage": { "prompt_tokens": prompt, "completion_tokens": completion } })
}

#[derive(Default)]
struct Book {
    seen: Vec<Seen>,
    /// Clients that closed before their answer was whole.
    left: usize,
}

/// Answers each request as it was told to.
pub struct Server {
    pub url: String,
    book: Arc<Mutex<Book>>,
    news: watch::Receiver<()>,
    task: JoinHandle<()>,
}

impl Server {
    /// Answers the n-th request with the n-th answer, and any further one with status 500.
    pub async fn start(answers: impl IntoIterator<Item = Answer>) -> Self {
        let answers: Mutex<VecDeque<Answer>> = Mutex::new(answers.into_iter().collect());
        let over = || Answer::json(500, &json!({ "error": { "message": "no more answers" } }));
        Server::by(move |_| answers.lock().unwrap().pop_front().unwrap_or_else(over)).await
    }

    /// Answers each request by what is in it.
    pub async fn by(answer: impl Fn(&Seen) -> Answer + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}/v1", listener.local_addr().unwrap());
        let book = Arc::new(Mutex::new(Book::default()));
        let (tell, news) = watch::channel(());
        let answer = Arc::new(answer);
        let task = tokio::spawn({
            let book = book.clone();
            async move {
                while let Ok((socket, _)) = listener.accept().await {
                    let (answer, book, tell) = (answer.clone(), book.clone(), tell.clone());
                    tokio::spawn(async move { serve(socket, answer.as_ref(), book, tell).await });
                }
            }
        });
        Server { url, book, news, task }
    }

    pub fn requests(&self) -> Vec<Seen> {
        self.book.lock().unwrap().seen.clone()
    }

    /// Waits until `count` requests have come in.
    pub async fn asked(&self, count: usize) {
        self.until(&format!("{count} requests"), |book| book.seen.len() >= count).await;
    }

    /// Waits until `count` clients have closed before their answer was whole.
    pub async fn left(&self, count: usize) {
        self.until(&format!("{count} clients gone"), |book| book.left >= count).await;
    }

    async fn until(&self, what: &str, holds: impl Fn(&Book) -> bool) {
        let mut news = self.news.clone();
        let wait = async {
            while !holds(&self.book.lock().unwrap()) {
                news.changed().await.unwrap();
            }
        };
        tokio::time::timeout(DEADLINE, wait).await.unwrap_or_else(|_| panic!("waited in vain for {what}"));
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.task.abort();
    }
}

async fn serve(
    mut socket: TcpStream,
    answer: &(impl Fn(&Seen) -> Answer + Send + Sync),
    book: Arc<Mutex<Book>>,
    tell: watch::Sender<()>,
) {
    let Some(seen) = request(&mut socket).await else { return };
    let answer = answer(&seen);
    book.lock().unwrap().seen.push(seen);
    let _ = tell.send(());
    let left = play(&mut socket, &answer).await.is_err();
    book.lock().unwrap().left += usize::from(left);
    let _ = tell.send(());
}

/// Reads one request, head and body.
async fn request(socket: &mut TcpStream) -> Option<Seen> {
    let mut bytes = Vec::new();
    let head = loop {
        if let Some(at) = bytes.windows(4).position(|w| w == b"\r\n\r\n") {
            break at;
        }
        if socket.read_buf(&mut bytes).await.ok()? == 0 {
            return None;
        }
    };
    let text = String::from_utf8_lossy(&bytes[..head]).into_owned();
    let mut lines = text.lines();
    let mut first = lines.next()?.split(' ');
    let (method, path) = (first.next()?.to_owned(), first.next()?.to_owned());
    let headers: BTreeMap<String, String> =
        lines.filter_map(|l| l.split_once(": ")).map(|(n, v)| (n.to_lowercase(), v.to_owned())).collect();
    let length = headers.get("content-length").and_then(|l| l.parse().ok()).unwrap_or(0);
    while bytes.len() < head + 4 + length {
        socket.read_buf(&mut bytes).await.ok().filter(|n| *n > 0)?;
    }
    let body = serde_json::from_slice(&bytes[head + 4..]).unwrap_or_default();
    Some(Seen { method, path, headers, body })
}

/// `Err` when the client closed first.
async fn play(socket: &mut TcpStream, answer: &Answer) -> Result<(), ()> {
    if answer.status == 0 {
        closed(socket).await;
        return Err(());
    }
    let mut head = format!("HTTP/1.1 {} x\r\nconnection: close\r\n", answer.status);
    for (name, value) in &answer.headers {
        head += &format!("{name}: {value}\r\n");
    }
    head += if answer.unframed { "\r\n" } else { "transfer-encoding: chunked\r\n\r\n" };
    send(socket, head.as_bytes()).await?;
    for step in &answer.steps {
        match step {
            Step::Event(data) => body(socket, format!("data: {data}\n\n").as_bytes(), answer).await?,
            Step::Bytes(bytes) => body(socket, bytes, answer).await?,
            Step::Pause(time) => {
                tokio::select! {
                    () = tokio::time::sleep(*time) => {}
                    () = closed(socket) => return Err(()),
                }
            }
            Step::Hang => {
                closed(socket).await;
                return Err(());
            }
            Step::Cut => return Ok(()),
        }
    }
    if answer.unframed { Ok(()) } else { send(socket, b"0\r\n\r\n").await }
}

async fn body(socket: &mut TcpStream, bytes: &[u8], answer: &Answer) -> Result<(), ()> {
    if bytes.is_empty() {
        return Ok(());
    }
    if answer.unframed {
        return send(socket, bytes).await;
    }
    let chunk = [format!("{:x}\r\n", bytes.len()).as_bytes(), bytes, b"\r\n"].concat();
    send(socket, &chunk).await
}

async fn send(socket: &mut TcpStream, bytes: &[u8]) -> Result<(), ()> {
    socket.write_all(bytes).await.map_err(|_| ())?;
    socket.flush().await.map_err(|_| ())
}

async fn closed(socket: &TcpStream) {
    let mut byte = [0; 64];
    loop {
        if socket.readable().await.is_err() {
            return;
        }
        match socket.try_read(&mut byte) {
            Ok(0) => return,
            Ok(_) => {}
            Err(e) if e.kind() == std::io::ErrorKind::WouldBlock => {}
            Err(_) => return,
        }
    }
}
