package review_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/permission-canvas/permission-canvas/approval"
	"github.com/permission-canvas/permission-canvas/approval/review"
)

func ExampleOpen() {
	home, err := os.MkdirTemp("", "example")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(home)
	dir, ctx := filepath.Join(home, "approvals"), context.Background()

	store, err := approval.Open(dir, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	if _, err := store.Request(ctx, approval.Ask{Digest: strings.Repeat("ab", 32), Session: "s1", Agent: "claude",
		Window: "Admin Console", Verb: "type_text", Target: "Name", Arguments: `{"text":"Ada"}`}); err != nil {
		fmt.Println(err)
		return
	}

	inbox, err := review.Open(dir)
	if err != nil {
		fmt.Println(err)
		return
	}
	cards, err := inbox.Pending(ctx)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, l := range cards[0].Lines() {
		fmt.Printf("%s %s\n", l.Name, l.Text)
	}
	fmt.Println(inbox.Deny(ctx, cards[0].ID, "terminal", "not now"))
	// Output:
	// window "Admin Console"
	// wants to type_text "Name"
	// with text "Ada"
	// asked by "claude"
	// <nil>
}
