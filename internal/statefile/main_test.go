package statefile_test

import (
	"context"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/permission-canvas/permission-canvas/internal/statefile"
)

// The test binary is also the process that fails: it does what STATEFILE_TEST
// says to STATEFILE_TEST_PATH and prints "done" or the error.
func TestMain(m *testing.M) {
	what, path := os.Getenv("STATEFILE_TEST"), os.Getenv("STATEFILE_TEST_PATH")
	if what == "" {
		os.Exit(m.Run())
	}
	if err := act(what, path); err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	fmt.Println("done")
}

func act(what, path string) error {
	switch what {
	case "replace":
		return statefile.Replace(path, []byte(fresh), nil)
	case "replace without fsync":
		return statefile.Replace(path, []byte(fresh), &statefile.ReplaceOptions{NoSync: true})
	case "create":
		return statefile.Create(path, []byte(fresh))
	case "remove":
		return statefile.Remove(path)
	case "append":
		a, err := statefile.OpenAppend(path)
		if err != nil {
			return err
		}
		return a.Append([]byte(fresh))
	case "lock":
		lock, err := statefile.LockContext(context.Background(), path)
		if err != nil {
			return err
		}
		time.Sleep(time.Minute) // a select without cases is a deadlock, which Go ends
		return lock.Unlock()
	}
	return fmt.Errorf("what is %q", what)
}

var fresh = strings.Repeat("new content\n", 1000)
