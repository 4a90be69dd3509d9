package main

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// person is the profile that a host meets, and `pc` on it.
type person struct {
	t        *testing.T
	dir      string
	data     string
	exe      string
	settings []string
}

func newPerson(t *testing.T) *person {
	t.Helper()
	p := &person{t: t, dir: t.TempDir()}
	p.data = filepath.Join(p.dir, "data")
	if runtime.GOOS == "windows" {
		p.exe = ".exe"
	}
	p.settings = []string{"--data-dir", p.data, "--driver", "sim"}
	for _, name := range []string{"pc", "permission-canvas"} {
		cmd := exec.Command("go", "build", "-o", filepath.Join(p.dir, name+p.exe),
			"github.com/permission-canvas/permission-canvas/shim/"+name)
		cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
		out, err := cmd.CombinedOutput()
		require.NoError(t, err, "%s", out)
	}
	return p
}

func (p *person) pc(args ...string) []byte {
	p.t.Helper()
	cmd := exec.Command(filepath.Join(p.dir, "pc"+p.exe), append(args, append([]string{"--json"}, p.settings...)...)...)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	require.NoError(p.t, err, "pc %v: %s", args, stderr.String())
	return out
}

// host runs the example and returns all it said.
func (p *person) host(ctx context.Context, click string) (string, error) {
	var out bytes.Buffer
	err := run(ctx, &out, filepath.Join(p.dir, "permission-canvas"+p.exe), p.settings, click)
	return out.String(), err
}

// approveOne waits for an ask and says yes to it.
func (p *person) approveOne(ctx context.Context) {
	for ctx.Err() == nil {
		var asks struct {
			Pending []struct{ ID string } `json:"pending"`
		}
		require.NoError(p.t, json.Unmarshal(p.pc("pending"), &asks))
		if len(asks.Pending) > 0 {
			p.pc("approve", asks.Pending[0].ID)
			return
		}
		time.Sleep(50 * time.Millisecond)
	}
}

// TestBX07EachNext: the host does what each refusal says.
func TestBX07EachNext(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	p := newPerson(t)
	said, err := p.host(ctx, "")
	require.ErrorContains(t, err, "next: ask_person")
	require.Contains(t, said, "For the person: ")

	p.pc("select", "1")
	p.pc("rule", "add", "hide", "--label", "Reveal key")
	p.pc("rule", "add", "readonly", "--label", "Delete")
	p.pc("resume", "--yes")
	said, err = p.host(ctx, "")
	require.NoError(t, err)
	require.Contains(t, said, "1 of the person's 3 windows")
	require.Contains(t, said, `button "Delete" (read only)`)
	require.NotContains(t, said, "Reveal")
	_, err = p.host(ctx, "Delete")
	require.ErrorContains(t, err, "(read_only, next: stop)")
	_, err = p.host(ctx, "Reveal key")
	require.ErrorContains(t, err, "no control")

	var answered sync.WaitGroup
	answered.Go(func() {
		time.Sleep(6 * time.Second) // longer than the server holds a host that it does not know
		p.approveOne(ctx)
	})
	said, err = p.host(ctx, "Save")
	answered.Wait()
	require.NoError(t, err)
	require.Contains(t, said, "Still waiting for the person")
	require.Contains(t, said, `clicked "Save"`)
}
