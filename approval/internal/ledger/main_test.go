package ledger_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"

	"github.com/permission-canvas/permission-canvas/approval"
	"github.com/permission-canvas/permission-canvas/approval/internal/ledger"
	"github.com/permission-canvas/permission-canvas/approval/review"
)

// The test binary starts itself again as another process of the agent's or the
// person's. Nothing of this is in the packages: the hook is unexported and set
// here.
const (
	childRole  = "LEDGER_TEST_ROLE"
	childDir   = "LEDGER_TEST_DIR"
	childPoint = "LEDGER_TEST_POINT" // at which to die, counted from 1; 0: never
	childHow   = "LEDGER_TEST_HOW"   // "torn": what was to be written is half there
)

func TestMain(m *testing.M) {
	switch os.Getenv(childRole) {
	case "racer":
		os.Exit(racer(os.Getenv(childDir)))
	case "mortal":
		os.Exit(mortal(os.Getenv(childDir)))
	}
	os.Exit(m.Run())
}

// child is this binary in another role.
func child(role, dir string, env ...string) *exec.Cmd {
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), append(env, childRole+"="+role, childDir+"="+dir)...)
	cmd.Stderr = os.Stderr
	return cmd
}

var digest = strings.Repeat("ab", 32)

// racer spends each id that it reads and writes what came of it.
func racer(dir string) int {
	store, err := approval.Open(dir, nil)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	in := bufio.NewScanner(os.Stdin)
	for in.Scan() {
		err := store.Consume(context.Background(), in.Text(), digest, "s")
		for errors.Is(err, approval.ErrBusy) { // a machine under load
			err = store.Consume(context.Background(), in.Text(), digest, "s")
		}
		switch {
		case err == nil:
			fmt.Println("won")
		case errors.Is(err, approval.ErrSpent):
			fmt.Println("spent")
		default:
			fmt.Println("error:", err)
		}
	}
	return 0
}

// mortal takes one request through its whole life and dies on the way. It
// writes how many points there were.
func mortal(dir string) int {
	at, _ := strconv.Atoi(os.Getenv(childPoint))
	points := 0
	ledger.OnPoint(func(point, path string, b []byte) {
		points++
		if points == at {
			if os.Getenv(childHow) == "torn" {
				half(point, path, b)
			}
			die()
		}
	})
	if err := live(dir, "mortal"); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	fmt.Println(points)
	return 0
}

// live asks, answers, spends, acts and finishes.
func live(dir, session string) error {
	ctx := context.Background()
	store, err := approval.Open(dir, nil)
	if err != nil {
		return err
	}
	inbox, err := review.Open(dir)
	if err != nil {
		return err
	}
	p, err := store.Request(ctx, approval.Ask{Digest: digest, Session: session, Verb: "type_text", Arguments: canary})
	if err != nil {
		return err
	}
	if err := inbox.Approve(ctx, p.ID, "me"); err != nil {
		return err
	}
	if err := store.Consume(ctx, p.ID, digest, session); err != nil {
		return err
	}
	if err := act(dir); err != nil {
		return err
	}
	return store.Finish(ctx, p.ID)
}

// act is the effect that must not happen twice.
func act(dir string) error {
	f, err := os.OpenFile(dir+".effects", os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = f.WriteString("x")
	return errors.Join(err, f.Close())
}

// half leaves on the disk what a process killed in the middle of a write does.
func half(point, path string, b []byte) {
	switch point {
	case "append":
		if f, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0o600); err == nil {
			f.Write(b[:len(b)/2])
		}
	case "replace":
		os.WriteFile(strings.Replace(path, "ledger.jsonl", ".ledger.jsonl4711", 1), b[:len(b)/2], 0o600)
	}
}

// die is kill -9.
func die() {
	self, err := os.FindProcess(os.Getpid())
	if err == nil {
		err = self.Kill()
	}
	if err != nil {
		panic(err)
	}
	select {}
}
