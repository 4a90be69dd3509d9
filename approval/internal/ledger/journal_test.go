package ledger_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/permission-canvas/permission-canvas/approval/internal/ledger"
)

var noon = time.Date(2026, 3, 4, 12, 0, 0, 0, time.UTC)

const header = `{"sum":"d553529c","version":1}` + "\n"

// sample returns a valid record in the given state.
func sample(id string, s ledger.State) ledger.Record {
	r := ledger.Record{ID: id, State: s, Digest: strings.Repeat("ab", 32), Control: "cc", Session: "s",
		Agent: "claude", Verb: "click", First: noon, Asked: noon, Changed: noon}
	if s.Open() {
		r.Clear = &ledger.Clear{Window: "W", Place: "P", Target: `button "Save" <b>`, Arguments: "{\"t\":\"é\u202e\"}",
			Delivery: "background", Policy: "p", Snapshot: "x", Profile: "~/.hermes", Code: "ab",
			Until: noon.Add(4 * time.Minute)}
	}
	return r
}

// hexID is the n-th of many ids.
func hexID(n int) string { return fmt.Sprintf("%016x", n+1) }

func sampleID(n int) string { return strings.Repeat(string("0123456789abcdef"[n]), 16) }

// one of every state, and every member that can be left out.
func samples() []ledger.Record {
	var all []ledger.Record
	for i, s := range []ledger.State{ledger.Pending, ledger.Granted, ledger.Denied, ledger.Executing,
		ledger.Consumed, ledger.Expired, ledger.Withdrawn} {
		all = append(all, sample(sampleID(i), s))
	}
	all[0].Same, all[0].Again, all[0].First = "dd", 2, noon.Add(-time.Minute)
	all[1].By, all[1].Changed = "terminal", noon.Add(time.Second)
	all[2].By, all[2].Reply, all[2].Lifted = "terminal", "wrong\u00a0control", true
	all[6].Reason, all[6].Agent, all[6].Verb = "policy", "", ""
	return all
}

func TestPC25JournalRoundTrip(t *testing.T) {
	data := ledger.Journal(samples())
	require.True(t, strings.HasPrefix(string(data), header), string(data))
	records, keep, err := ledger.Parse(data)
	require.NoError(t, err)
	require.Equal(t, len(data), keep)
	require.Len(t, records, len(samples()))
	for i, want := range samples() {
		require.Equal(t, want, *records[i])
	}
}

// The form is fixed: older files must be found as they were written.
func TestPC25JournalForm(t *testing.T) {
	r := sample(sampleID(1), ledger.Pending)
	r.Same, r.Again = "dd", 1
	require.Equal(t, header+`{"sum":"7996c09b","record":{"id":"1111111111111111","state":"pending","digest":"`+r.Digest+
		`","same":"dd","control":"cc","session":"s","agent":"claude","verb":"click","first":"2026-03-04T12:00:00.000Z",`+
		`"asked":"2026-03-04T12:00:00.000Z","again":1,"changed":"2026-03-04T12:00:00.000Z","clear":{"window":"W","place":"P",`+
		`"target":"button \"Save\" \u003cb\u003e","arguments":"{\"t\":\"é`+"\u202e"+`\"}","delivery":"background","policy":"p",`+
		`"snapshot":"x","profile":"~/.hermes","code":"ab","until":"2026-03-04T12:04:00.000Z"}}}`+"\n", string(ledger.Journal([]ledger.Record{r})))
	r.State, r.By = ledger.Granted, "me"
	require.Equal(t, `{"sum":"b1bb114a","mark":{"id":"1111111111111111","state":"granted","at":"2026-03-04T12:00:00.000Z","by":"me"}}`+
		"\n", string(ledger.MarkLine(r)))
}

func TestPC19JournalNeedsAnEnd(t *testing.T) {
	r := sample(sampleID(1), ledger.Pending)
	r.Clear.Until = time.Time{}
	_, _, err := ledger.Parse(ledger.Journal([]ledger.Record{r}))
	require.ErrorContains(t, err, "the end of the request is missing")
}

func TestPC25Marks(t *testing.T) {
	asked, spent := sample(sampleID(0), ledger.Pending), sample(sampleID(1), ledger.Executing)
	journal := ledger.Journal([]ledger.Record{asked, spent})
	yes, done := asked, spent
	yes.State, yes.By, yes.Changed = ledger.Granted, "me", noon.Add(time.Second)
	done.State, done.Changed = ledger.Consumed, noon.Add(time.Minute)

	data := bytes.Join([][]byte{journal, ledger.MarkLine(yes), ledger.MarkLine(done)}, nil)
	records, _, err := ledger.Parse(data)
	require.NoError(t, err)
	require.Equal(t, []*ledger.Record{&yes, &done}, records)

	change := func(r ledger.Record, f func(*ledger.Record)) []byte {
		f(&r)
		return ledger.MarkLine(r)
	}
	for _, tt := range []struct {
		name   string
		mark   []byte
		reason string
	}{
		{"twice", ledger.MarkLine(yes), `no way from granted to "granted"`},
		{"nobody", change(yes, func(r *ledger.Record) { r.ID = sampleID(9) }), "a mark without its record"},
		{"yes by nobody", change(yes, func(r *ledger.Record) { r.ID, r.By = sampleID(2), "" }), `no way from pending to "granted"`},
		{"yes too late", change(yes, func(r *ledger.Record) {
			r.ID, r.Changed = sampleID(2), noon.Add(ledger.Lifetime)
		}), "granted outside its time"},
		{"yes too early", change(yes, func(r *ledger.Record) { r.ID, r.Changed = sampleID(2), noon.Add(-1e6) }), "granted outside its time"},
		{"spent by a mark", change(yes, func(r *ledger.Record) { r.State, r.By = ledger.Executing, "" }), `no way from granted to "executing"`},
		{"spent again", change(done, func(r *ledger.Record) { r.State, r.By = ledger.Granted, "me" }), `no way from consumed to "granted"`},
		{"over, by somebody", change(done, func(r *ledger.Record) { r.ID, r.By = sampleID(3), "me" }), `no way from executing to "consumed"`},
		{"unknown state", change(yes, func(r *ledger.Record) { r.State = "allowed" }), `no way from granted to "allowed"`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			third, fourth := sample(sampleID(2), ledger.Pending), sample(sampleID(3), ledger.Executing)
			head := bytes.Join([][]byte{ledger.Journal([]ledger.Record{asked, spent, third, fourth}), ledger.MarkLine(yes), ledger.MarkLine(done)}, nil)
			_, _, err := ledger.Parse(append(head, tt.mark...))
			var corrupt *ledger.CorruptError
			require.ErrorAs(t, err, &corrupt)
			require.Equal(t, 8, corrupt.Line)
			require.Equal(t, len(head), corrupt.Offset)
			require.Contains(t, corrupt.Reason, tt.reason)
		})
	}
}

// A line that is not what we write is refused, and the error says where.
func TestPC25CorruptSaysWhere(t *testing.T) {
	good := string(ledger.Journal([]ledger.Record{sample(sampleID(1), ledger.Executing)}))
	body := strings.TrimSuffix(good[len(header)+len(`{"sum":"01234567",`):], "\n")
	edit := func(old, new string) string {
		require.Contains(t, body, old)
		return string(ledger.Line(strings.Replace(body, old, new, 1)))
	}
	for _, tt := range []struct {
		name, line, reason string
	}{
		{"empty line", "\n", "too short"},
		{"flipped", strings.Replace(good[len(header):], "claude", "claudf", 1), "checksum differs"},
		{"other sum", strings.Replace(good[len(header):], `{"sum":"`, `{"Sum":"`, 1), "checksum differs"},
		{"another version", string(ledger.Line(`"version":1}`)), "neither a record nor a mark"},
		{"mark cut", string(ledger.Line(`"mark":{"id":"1111111111111111"}}`)), `no "state"`},
		{"twice", good[len(header):] + good[len(header):], "stands there twice"},
		{"id", edit(`"id":"1`, `"id":"A`), "id is not 16"},
		{"short id", edit(`"id":"1`, `"id":"`), "id is not 16"},
		{"state", edit("executing", "allowed"), `unknown state "allowed"`},
		{"digest", edit(`"digest":"ab`, `"digest":"AB`), "digest is not 64"},
		{"session", edit(`"session":"s"`, `"session":""`), "session is missing"},
		{"no session", edit(`"session":"s",`, ``), `no "session"`},
		{"unknown member", edit(`"control":`, `"extra":1,"control":`), `no "control"`},
		{"repeated member", edit(`"verb":"click"`, `"verb":"click","verb":"drag"`), `no "first"`},
		{"case", edit(`"control"`, `"Control"`), `no "control"`},
		{"space", edit(`"verb":"click"`, `"verb": "click"`), "not a string"},
		{"number", edit(`"verb":"click"`, `"verb":7`), "not a string"},
		{"empty optional", edit(`"verb":"click"`, `"verb":""`), `"verb" is empty`},
		{"escaped letter", edit(`"verb":"click"`, `"verb":"cl\u0069ck"`), "own form"},
		{"bad escape", edit(`"verb":"click"`, `"verb":"cl\ick"`), "own form"},
		{"surrogate", edit(`"verb":"click"`, `"verb":"\ud800"`), "own form"},
		{"bytes", edit(`"verb":"click"`, "\"verb\":\"\xff\""), "own form"},
		{"unending string", string(ledger.Line(`"record":{"id":"1`)), "not a string"},
		{"time", edit(`"asked":"2026-03-04T12:00:00.000Z"`, `"asked":"2026-03-04T12:00:00Z"`), `"asked" is not a time`},
		{"comma time", edit(`"asked":"2026-03-04T12:00:00.000Z"`, `"asked":"2026-03-04T12:00:00,000Z"`), `"asked" is not a time`},
		{"zone", edit(`"asked":"2026-03-04T12:00:00.000Z"`, `"asked":"2026-03-04T12:00:00+01:00"`), `"asked" is not a time`},
		{"no such day", edit(`"asked":"2026-03-04`, `"asked":"2026-02-30`), `"asked" is not a time`},
		{"year 1", edit(`"asked":"2026-03-04T12:00:00.000Z"`, `"asked":"0001-01-01T00:00:00.000Z"`), "time is missing"},
		{"count 0", edit(`"changed"`, `"again":0,"changed"`), `"again" is not a count`},
		{"count 01", edit(`"changed"`, `"again":01,"changed"`), `"again" is not a count`},
		{"count 1.0", edit(`"changed"`, `"again":1.0,"changed"`), `"again" is not a count`},
		{"count -1", edit(`"changed"`, `"again":-1,"changed"`), `"again" is not a count`},
		{"count at the end", string(ledger.Line(body[:strings.Index(body, `,"changed"`)] + `,"again":5`)), `"again" is not a count`},
		{"lifted false", edit(`.000Z"}}`, `.000Z","lifted":false}}`), `"lifted" is not true`},
		{"lifted", edit(`.000Z"}}`, `.000Z","lifted":true}}`), "lifted without a denial"},
		{"clear is text", edit(`.000Z"}}`, `.000Z","clear":"x"}}`), `"clear" is not an object`},
		{"clear is empty", edit(`.000Z"}}`, `.000Z","clear":{}}}`), `no "window"`},
		{"nothing asked", edit("executing", "pending"), "beside the wrong state"},
		{"not closed", string(ledger.Line(strings.TrimSuffix(body, "}"))), "does not end"},
		{"more", string(ledger.Line(body + " ")), "behind the end"},
		{"more in mark", string(ledger.Line(`"mark":{"id":"1111111111111111","state":"consumed","at":"2026-03-04T12:00:00.000Z"}} `)), "behind the end"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			at := len(header)
			n := 2
			if tt.name == "twice" {
				at, n = len(good), 3
			}
			_, _, err := ledger.Parse([]byte(header + tt.line))
			var corrupt *ledger.CorruptError
			require.ErrorAs(t, err, &corrupt)
			require.Contains(t, corrupt.Reason, tt.reason)
			require.Equal(t, [2]int{n, at}, [2]int{corrupt.Line, corrupt.Offset})
			require.Contains(t, err.Error(), "ledger.jsonl, line ")
		})
	}
	for name, data := range map[string]string{
		"empty file": "", "no header": good[len(header):], "torn header": header[:20],
		"version 2": string(ledger.Line(`"version":2}`)), "another file": "{}\n",
	} {
		t.Run(name, func(t *testing.T) {
			_, _, err := ledger.Parse([]byte(data))
			require.ErrorContains(t, err, "line 1 (byte 0)")
		})
	}
}

// What a killed append leaves is no line yet, wherever it was cut.
func TestPC25TornTail(t *testing.T) {
	first := ledger.Journal([]ledger.Record{sample(sampleID(1), ledger.Pending)})
	all := ledger.Journal([]ledger.Record{sample(sampleID(1), ledger.Pending), sample(sampleID(2), ledger.Pending)})
	for cut := len(first); cut < len(all); cut++ {
		records, keep, err := ledger.Parse(all[:cut])
		require.NoError(t, err)
		require.Equal(t, len(first), keep)
		require.Len(t, records, 1)
	}
	records, keep, err := ledger.Parse(append(bytes.Clone(first), make([]byte, 4096)...)) // a file system's zeros
	require.NoError(t, err)
	require.Equal(t, len(first), keep)
	require.Len(t, records, 1)
}

// FuzzPC25Bodies gives lines whose checksums are right.
func FuzzPC25Bodies(f *testing.F) {
	for _, r := range samples() {
		whole := ledger.Journal([]ledger.Record{r})
		f.Add(string(whole[len(header)+len(`{"sum":"01234567",`) : len(whole)-1]))
		f.Add(string(ledger.MarkLine(r)[len(`{"sum":"01234567",`):]))
	}
	f.Fuzz(func(t *testing.T, bodies string) {
		data := []byte(header)
		for body := range strings.Lines(bodies) {
			data = append(data, ledger.Line(strings.TrimSuffix(body, "\n"))...)
		}
		check(t, data)
	})
}

func FuzzPC25Journal(f *testing.F) {
	f.Add(ledger.Journal(samples()))
	f.Add([]byte(header))
	f.Fuzz(check)
}

// check holds what is true of every journal that parses: there is no other
// spelling of it.
func check(t *testing.T, data []byte) {
	records, keep, err := ledger.Parse(data)
	if err != nil {
		require.Nil(t, records)
		require.Contains(t, err.Error(), "ledger.jsonl, line ")
		return
	}
	values := make([]ledger.Record, len(records))
	for i, r := range records {
		values[i] = *r
	}
	again := ledger.Journal(values)
	if !bytes.Contains(data, []byte(`"mark"`)) {
		require.Equal(t, string(data[:keep]), string(again))
	}
	twice, _, err := ledger.Parse(again)
	require.NoError(t, err)
	require.Equal(t, records, twice)
}
