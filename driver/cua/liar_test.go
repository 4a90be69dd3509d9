package cua_test

import (
	"encoding/json"
	"os"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/permission-canvas/permission-canvas/driver"
	"github.com/permission-canvas/permission-canvas/driver/cua"
	"github.com/permission-canvas/permission-canvas/driver/drivertest"
)

// versions of the recorded replies in testdata, and what they call themselves.
var versions = map[string]string{"0.21": "0.21.0", "0.37": "0.37.0"}

func itoa(n int) string { return strconv.Itoa(n) }

// golden reads a reply as a real driver gave it.
func golden(t *testing.T, name, version string) json.RawMessage {
	t.Helper()
	data, err := os.ReadFile("testdata/" + name + "-" + version + ".json")
	require.NoError(t, err)
	return data
}

func goldenTools(t *testing.T, version string) []json.RawMessage {
	t.Helper()
	var all []json.RawMessage
	require.NoError(t, json.Unmarshal(golden(t, "tools", version), &all))
	return all
}

// replay is a script that answers as the real driver of that version did with
// one window, a "page" or a "dialog".
func replay(t *testing.T, version, what string) drivertest.Script {
	t.Helper()
	return drivertest.Script{
		Version: versions[version], Tools: goldenTools(t, version),
		Answers: map[string][]drivertest.Answer{
			"list_windows":     {{Result: golden(t, "windows-"+what, version)}},
			"get_window_state": {{Result: golden(t, "state-"+what, version)}},
		},
	}
}

// play starts a driver over a lying process.
func play(t *testing.T, s drivertest.Script, opts *cua.Options) (*cua.Driver, drivertest.Child) {
	t.Helper()
	o := cua.Options{}
	if opts != nil {
		o = *opts
	}
	o.Env = append(o.Env, "DISPLAY=") // no X server is asked
	child := drivertest.Executable(t, s)
	d := cua.New(child.Path, &o)
	t.Cleanup(func() { require.NoError(t, d.Close()) })
	return d, child
}

// refOf returns the one window that a recorded list holds.
func refOf(t *testing.T, version, what string) driver.WindowRef {
	t.Helper()
	var r struct {
		StructuredContent struct {
			Windows []struct {
				PID int    `json:"pid"`
				ID  uint64 `json:"window_id"`
			}
		}
	}
	require.NoError(t, json.Unmarshal(golden(t, "windows-"+what, version), &r))
	require.Len(t, r.StructuredContent.Windows, 1)
	w := r.StructuredContent.Windows[0]
	return driver.WindowRef{PID: w.PID, ID: w.ID}
}

// edited is a recorded reply with one member of structuredContent changed, or
// taken away where value is nil. path leads there, elements by their number.
func edited(t *testing.T, reply json.RawMessage, value any, path ...any) json.RawMessage {
	t.Helper()
	var root any
	require.NoError(t, json.Unmarshal(reply, &root))
	at := root
	for i, step := range path {
		last := i == len(path)-1
		switch s := step.(type) {
		case string:
			m := at.(map[string]any)
			switch {
			case last && value == nil:
				delete(m, s)
			case last:
				m[s] = value
			default:
				at = m[s]
			}
		case int:
			a := at.([]any)
			if last {
				a[s] = value
			} else {
				at = a[s]
			}
		}
	}
	data, err := json.Marshal(root)
	require.NoError(t, err)
	return data
}
