// Command embed is the smallest host: it lists, looks and acts once, under the
// rules of the profile where `pc` looks too. With --sim it needs no desktop.
//
//	go run ./examples/embed --sim
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"log"
	"os"
	"os/signal"

	"github.com/permission-canvas/permission-canvas/driver/sim"
	canvas "github.com/permission-canvas/permission-canvas/permissioncanvas"
)

func main() {
	log.SetFlags(0)
	home := flag.String("home", "", "the profile's home; empty is the usual one")
	simulated := flag.Bool("sim", false, "use the simulated desktop")
	click := flag.String("click", "", "label of the button to click")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, *home, *simulated, *click); err != nil {
		if refused, ok := errors.AsType[*canvas.Error](err); ok {
			// Fixed text, safe for a model; Next says what to do about it.
			log.Fatalf("%s\n(%s, next: %s)", refused.Message, refused.Code, refused.Next)
		}
		log.Fatal(err)
	}
}

func run(ctx context.Context, home string, simulated bool, click string) (err error) {
	if home == "" {
		if home, err = canvas.DefaultHome(); err != nil {
			return err
		}
	}
	opts := &canvas.Options{Agent: "embed"}
	if simulated {
		opts.Driver = sim.New(nil)
	}
	desk, err := canvas.New(home, opts)
	if err != nil {
		return err
	}
	defer desk.Close()

	windows, err := desk.ListWindows(ctx)
	if err != nil {
		return err
	}
	seen, err := desk.Capture(ctx, windows[0].Ref, nil)
	if err != nil {
		return err
	}
	fmt.Print(seen.Text())
	for e := range seen.Elements() {
		if click != "" && e.Label == click {
			res, err := desk.Act(ctx, canvas.Click{Target: e.Token}) // waits where the person is asked
			if err != nil {
				return err
			}
			fmt.Printf("clicked %q: %s\n", e.Label, res.Effect)
			return nil
		}
	}
	return nil
}
