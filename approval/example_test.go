package approval_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/permission-canvas/permission-canvas/approval"
	"github.com/permission-canvas/permission-canvas/approval/review"
)

// The two halves are two programs; here they stand in one.
func ExampleOpen() {
	home, err := os.MkdirTemp("", "example")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(home)
	dir := filepath.Join(home, "approvals")
	ctx := context.Background()

	// The agent's side asks.
	store, err := approval.Open(dir, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	const digest = "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"
	asked, err := store.Request(ctx, approval.Ask{Digest: digest, Session: "s1", Agent: "claude",
		Window: "Admin Console", Verb: "click", Target: `button "Save"`})
	if err != nil {
		fmt.Println(err)
		return
	}

	// The person's side answers.
	inbox, err := review.Open(dir)
	if err != nil {
		fmt.Println(err)
		return
	}
	if err := inbox.Approve(ctx, asked.ID, "terminal"); err != nil {
		fmt.Println(err)
		return
	}

	// The agent's side spends the answer, once.
	state, err := store.Wait(ctx, asked.ID)
	fmt.Println(state, err)
	fmt.Println(store.Consume(ctx, asked.ID, digest, "s1"))
	fmt.Println(store.Consume(ctx, asked.ID, digest, "s1"))
	// Output:
	// granted <nil>
	// <nil>
	// approval: already spent
}
