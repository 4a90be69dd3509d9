package cua_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/permission-canvas/permission-canvas/driver"
	"github.com/permission-canvas/permission-canvas/internal/fixture"
)

// page reports everything that reaches it to the test's own server, so that
// effects are known otherwise than through the driver.
const page = `<!doctype html><html><head><title>TITLE</title><style>
body{margin:20px;background:#fff;font:16px sans-serif}
#box{display:block;width:201px;height:41px;border:0;background:#ff00ff;color:#ff00ff;margin:13px 0 13px 31px}
#tall{height:3000px}</style></head><body>
<button id=save>Save</button> <label>Name <input id=name autocomplete=off></label>
<label>PIN <input id=pin type=password value=hunter2></label> <textarea aria-label=Notes></textarea>
<button id=box>Box</button><p>API key: <code>sk-test-9f2a77c1b0</code></p><div id=tall></div>
<script>
let last = Promise.resolve(); // reports leave in the order in which things happened
const tell = (what, v) => {
  if (document.title !== 'PC driver suite') return;
  const send = () => fetch('/tell?what=' + what, {method: 'POST', body: String(v)}).catch(() => {});
  last = last.then(send, send);
};
const field = document.getElementById('name');
document.getElementById('save').addEventListener('click', e => tell('press', e.detail));
field.addEventListener('input', () => tell('text', field.value));
for (const type of ['click', 'dblclick', 'contextmenu', 'auxclick', 'keydown'])
  addEventListener(type, e => tell('event', [type, e.target.id, e.button ?? e.key, e.detail, e.ctrlKey ? 'ctrl' : ''].join(' ')));
addEventListener('scroll', () => tell('scroll', scrollY));
let round = '';
setInterval(async () => {
  const now = await (await fetch('/round')).text();
  if (now === round) return;
  round = now; field.value = ''; field.blur(); scrollTo(0, 0); tell('ready', now);
}, 50);
</script></body></html>`

// browser is a Chromium of the test's own, on the display given.
type browser struct {
	cmd     *exec.Cmd
	server  *httptest.Server
	title   string
	exe     string
	profile string
	env     []string

	mu      sync.Mutex
	round   int
	ready   int
	presses int
	text    string
	events  []string
}

const (
	mainTitle  = "PC driver suite"
	otherTitle = "PC second window"
)

// shared are browsers, one for each display, for all tests that leave them as
// they were.
var shared = struct {
	sync.Mutex
	browsers map[string]*browser
}{browsers: map[string]*browser{}}

// sharedBrowser starts it at the first test that needs it.
func sharedBrowser(t *testing.T, desk fixture.Desktop) *browser {
	t.Helper()
	shared.Lock()
	b := shared.browsers[desk.Display]
	if b == nil {
		profile, err := os.MkdirTemp("", "pc-browser")
		require.NoError(t, err)
		b = startBrowser(t, desk, profile)
		shared.browsers[desk.Display] = b
	}
	shared.Unlock()
	b.reset(t)
	return b
}

func endShared() {
	for _, b := range shared.browsers {
		b.stop()
		_ = os.RemoveAll(b.profile)
	}
}

// startBrowser opens two windows and waits for the first.
func startBrowser(t *testing.T, desk fixture.Desktop, profile string) *browser {
	t.Helper()
	exe := os.Getenv("PC_TEST_CHROMIUM")
	if exe == "" {
		exe = "chromium"
	}
	b := &browser{title: mainTitle + " - Chromium", exe: exe, profile: profile, env: append(os.Environ(), desk.Env()...)}
	b.server = httptest.NewServer(b)
	b.cmd = b.command(mainTitle)
	b.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	require.NoError(t, b.cmd.Start())
	b.reset(t)
	_ = b.command(otherTitle).Run() // hands over to the first and ends
	return b
}

// command opens a window; where the profile's browser runs, in that.
func (b *browser) command(title string) *exec.Cmd {
	cmd := exec.Command(b.exe, "--no-sandbox", "--force-renderer-accessibility", "--no-first-run", "--no-default-browser-check",
		"--disable-background-networking", "--disable-features=Translate", "--password-store=basic", "--window-size=900,700",
		"--disable-background-timer-throttling", "--disable-backgrounding-occluded-windows", "--disable-renderer-backgrounding",
		"--user-data-dir="+b.profile, "--new-window", b.server.URL+"/?title="+url.QueryEscape(title))
	cmd.Env = b.env
	return cmd
}

// stop ends the browser's own process group and waits until it let go of the
// profile.
func (b *browser) stop() {
	if b.cmd.Process == nil || b.cmd.ProcessState != nil {
		return
	}
	_ = syscall.Kill(-b.cmd.Process.Pid, syscall.SIGKILL)
	_ = b.cmd.Wait()
	b.server.CloseClientConnections()
	b.server.Close()
	time.Sleep(300 * time.Millisecond)
}

func (b *browser) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch r.URL.Path {
	case "/round": // asked by both windows; the first one answers
		_, _ = fmt.Fprint(w, b.round)
	case "/tell":
		body := make([]byte, 4096)
		n, _ := r.Body.Read(body)
		b.told(r.URL.Query().Get("what"), string(body[:n]))
	case "/":
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		_, _ = fmt.Fprint(w, strings.Replace(page, "TITLE", r.URL.Query().Get("title"), 1))
	default:
		http.NotFound(w, r)
	}
}

func (b *browser) told(what, value string) {
	switch what {
	case "press":
		b.presses++
	case "text":
		b.text = value
	case "ready":
		_, _ = fmt.Sscan(value, &b.ready)
	default:
		b.events = append(b.events, strings.TrimSpace(what+" "+value))
	}
}

// reset empties the field and waits until the page has.
func (b *browser) reset(t *testing.T) {
	t.Helper()
	b.mu.Lock()
	b.round++
	round := b.round
	b.mu.Unlock()
	require.Eventually(t, func() bool {
		b.mu.Lock()
		defer b.mu.Unlock()
		return b.ready >= round
	}, 60*time.Second, 20*time.Millisecond, "the page did not answer")
	for before := -1; ; time.Sleep(200 * time.Millisecond) { // a wheel rolls on for a while
		b.mu.Lock()
		now := len(b.events)
		if now == before {
			b.text, b.events = "", nil
			b.mu.Unlock()
			return
		}
		b.mu.Unlock()
		before = now
	}
}

func (b *browser) pressed() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.presses
}

func (b *browser) typed() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text
}

func (b *browser) saw(event string) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, e := range b.events {
		if strings.HasPrefix(e, event) {
			return true
		}
	}
	return false
}

func (b *browser) all() []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return append([]string(nil), b.events...)
}

// has reports whether the main window is there.
func (b *browser) has(t *testing.T, d driver.Driver) bool {
	t.Helper()
	all, err := d.Windows(t.Context())
	require.NoError(t, err)
	for _, w := range all {
		if w.Title == b.title {
			return true
		}
	}
	return false
}

// clear forgets which page has answered.
func (b *browser) clear() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.ready = 0
}

// window returns the browser's main window as a driver lists it.
func (b *browser) window(t *testing.T, d driver.Driver) driver.Window {
	t.Helper()
	var found driver.Window
	require.Eventually(t, func() bool {
		all, err := d.Windows(context.Background())
		if err != nil {
			return false
		}
		for _, w := range all {
			if w.Title == b.title {
				found = w
				return true
			}
		}
		return false
	}, 30*time.Second, 100*time.Millisecond)
	return found
}
