// Command quickstart shows the whole idea in a minute, on a simulated desktop
// and without a display: a person hides a key, makes one button read only and
// lets another ask; an agent looks, is refused, asks, and acts once.
//
//	go run ./examples/quickstart
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/permission-canvas/permission-canvas/driver/sim"
	canvas "github.com/permission-canvas/permission-canvas/permissioncanvas"
	"github.com/permission-canvas/permission-canvas/permissioncanvas/control"
)

func main() {
	log.SetFlags(0)
	out := flag.String("out", "quickstart-out", "where the pictures and the tree go")
	flag.Parse()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	if err := run(ctx, *out); err != nil {
		log.Fatal(err)
	}
}

// story is the desktop, the person at it and the agent.
type story struct {
	out    string
	screen *sim.Desktop
	person *control.Desk
	agent  *canvas.Canvas
	window canvas.WindowRef
}

func run(ctx context.Context, out string) (err error) {
	home, err := os.MkdirTemp("", "permission-canvas-quickstart-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(home)) }()
	if err := os.MkdirAll(out, 0o755); err != nil {
		return err
	}
	s := &story{out: out, screen: sim.New(nil)}
	s.person, err = control.Open(filepath.Join(home, "permission-canvas"), &control.Options{Driver: s.screen, By: "Ada"})
	if err != nil {
		return err
	}
	defer s.person.Close()
	s.agent, err = canvas.New(home, &canvas.Options{Agent: "the agent", Driver: s.screen})
	if err != nil {
		return err
	}
	defer s.agent.Close()
	for _, chapter := range []func(context.Context) error{s.rules, s.look, s.refusal, s.approval, s.record} {
		if err := chapter(ctx); err != nil {
			return err
		}
	}
	return nil
}

func say(format string, args ...any) { fmt.Printf(format+"\n", args...) }

// rules is what the person does before the agent sees anything.
func (s *story) rules(ctx context.Context) error {
	say("A new profile is paused, and the agent learns nothing:")
	_, err := s.agent.ListWindows(ctx)
	say("  agent   list windows → %v\n", err)

	say("The person chooses one window and says what may be done in it:")
	w, err := s.person.Find(ctx, "Admin Console")
	if err != nil {
		return err
	}
	s.window = w.Ref
	before, err := s.person.Preview(ctx, w.Ref)
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(s.out, "before.png"), before.Look.Snapshot.Image, 0o644); err != nil {
		return err
	}
	if _, err := s.person.Select(ctx, w.Ref, false); err != nil {
		return err
	}
	for _, r := range []struct {
		level canvas.Level
		want  control.Want
	}{
		{control.LevelHide, control.Want{Label: "sk-test-9f2a77c1b0", As: control.AsShape}},
		{canvas.LevelReadOnly, control.Want{Role: "button", Label: "Delete"}},
		{canvas.LevelAllow, control.Want{Role: "textbox", Label: "Name"}},
		{canvas.LevelAsk, control.Want{Role: "button", Label: "Save"}},
	} {
		rule, err := s.person.RuleOn(ctx, w.Ref, r.level, r.want)
		if err != nil {
			return err
		}
		if rule, err = s.person.AddRule(ctx, rule); err != nil {
			return err
		}
		say("  person  %s %-10s %s", control.Mark(rule.Level), rule.Level.Word(), control.Describe(rule).What)
	}
	_, err = s.person.Resume(ctx, nil)
	say("  person  Resume\n")
	return err
}

// look is what the agent sees.
func (s *story) look(ctx context.Context) error {
	seen, err := s.agent.Capture(ctx, s.window, nil)
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(s.out, "after.png"), seen.PNG(), 0o644); err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(s.out, "tree.txt"), []byte(seen.Text()), 0o644); err != nil {
		return err
	}
	say("The agent looks. This is all the text it gets:")
	for line := range strings.Lines(seen.Text()) {
		fmt.Print("  │ " + line)
	}
	if strings.Contains(seen.Text(), "sk-test") {
		return errors.New("the key is in what the agent sees")
	}
	say("\n  The key is neither in the text nor in the picture.\n")
	return nil
}

// target finds a control in a fresh look.
func (s *story) target(ctx context.Context, role, label string) (canvas.Token, error) {
	seen, err := s.agent.Capture(ctx, s.window, nil)
	if err != nil {
		return "", err
	}
	for e := range seen.Elements() {
		if e.Role == role && e.Label == label {
			return e.Token, nil
		}
	}
	return "", fmt.Errorf("no %s %q in sight", role, label)
}

// refusal is a read-only control.
func (s *story) refusal(ctx context.Context) error {
	t, err := s.target(ctx, "button", "Delete")
	if err != nil {
		return err
	}
	_, err = s.agent.Act(ctx, canvas.Click{Target: t})
	if !errors.Is(err, canvas.ReadOnly) || s.screen.Pressed("Delete") != 0 {
		return fmt.Errorf("the read-only button was not refused: %w", err)
	}
	say("  agent   click Delete → %v", err)
	return nil
}

// approval is a control that asks, and an act that is done once.
func (s *story) approval(ctx context.Context) error {
	name, err := s.target(ctx, "textbox", "Name")
	if err != nil {
		return err
	}
	if _, err := s.agent.Act(ctx, canvas.SetValue{Target: name, Value: "Grace Hopper"}); err != nil {
		return err
	}
	say("  agent   set Name to \"Grace Hopper\" → done; it is allowed")
	save, err := s.target(ctx, "button", "Save")
	if err != nil {
		return err
	}
	say("  agent   click Save → waits for the person")
	answered := make(chan error, 1)
	go func() { answered <- s.answer(ctx) }()
	if _, err := s.agent.Act(ctx, canvas.Click{Target: save}); err != nil {
		return errors.Join(err, <-answered)
	}
	if err := <-answered; err != nil {
		return err
	}
	if n := s.screen.Pressed("Save"); n != 1 {
		return fmt.Errorf("the button was pressed %d times", n)
	}
	say("  agent   click Save → done, once. The console says %q\n", s.screen.Value(s.window, "Status"))
	return nil
}

// answer is the person at `pc pending` and `pc approve`, here by a script.
func (s *story) answer(ctx context.Context) error {
	for {
		cards, err := s.person.Pending(ctx)
		if err != nil {
			return err
		}
		if len(cards) > 0 {
			c := cards[0]
			say("  person  reads: %s wants to %s %q in %q → Approve once", c.Agent, c.Verb, c.Target, c.Window)
			return s.person.Approve(ctx, c.ID)
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(20 * time.Millisecond):
		}
	}
}

// record is what stays.
func (s *story) record(context.Context) error {
	report, err := s.person.Verify()
	if err != nil {
		return err
	}
	if report.Broken != nil {
		return fmt.Errorf("the record is broken: %+v", *report.Broken)
	}
	say("Every step is on record: %d entries, the chain verifies.", report.Entries)
	say("Look at %s, %s and %s.", filepath.Join(s.out, "before.png"), filepath.Join(s.out, "after.png"), filepath.Join(s.out, "tree.txt"))
	return nil
}
