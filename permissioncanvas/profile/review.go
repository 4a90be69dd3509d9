package profile

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"slices"
	"time"

	"github.com/permission-canvas/permission-canvas/driver"
	"github.com/permission-canvas/permission-canvas/internal/statefile"
	"github.com/permission-canvas/permission-canvas/internal/strictjson"
	"github.com/permission-canvas/permission-canvas/permissioncanvas/policy"
)

// patience is how long a lock that is held for one write is waited for.
const patience = 5 * time.Second

// A Review says that a person saw that a rule matches nothing in a window and
// accepted that. It ends with the rule's next edit, since that changes Rule,
// with the window, and when the rule matches there after all.
type Review struct {
	Rule     string       `json:"rule"` // Digest of the rule
	Window   ReviewWindow `json:"window"`
	Accepted time.Time    `json:"accepted_at"`
}

// ReviewWindow is the live window that a Review is for.
type ReviewWindow struct {
	PID      int    `json:"pid"`
	Start    uint64 `json:"start"`
	WindowID uint64 `json:"window_id"`
}

// reviewFile is the form of reviews.json.
type reviewFile struct {
	Version  int      `json:"version"`
	Accepted []Review `json:"accepted"`
}

// EncodeReviews returns what reviews.json holds for these reviews. Writing it
// is for the person's side alone, under ReviewsLock.
func EncodeReviews(reviews []Review) []byte {
	if reviews == nil {
		reviews = []Review{}
	}
	out, _ := json.MarshalIndent(reviewFile{Version: 1, Accepted: reviews}, "", "  ") // these types always encode
	return append(out, '\n')
}

// Reviews returns what was accepted; a missing file is none.
func (p *Profile) Reviews() ([]Review, error) {
	path := p.path(ReviewsFile)
	data, err := statefile.Read(path, limit)
	if missing(err) {
		return nil, nil
	}
	var file reviewFile
	if err == nil {
		err = strictjson.Decode(data, &file)
	}
	if err == nil && file.Version != 1 {
		err = errors.New("version is not 1")
	}
	if err != nil {
		return nil, &InvalidError{path, err}
	}
	return file.Accepted, nil
}

// Accepted returns what tells, for a rule's id, whether a person accepted that
// the rule as it is now matches nothing in window w as it was selected. Where
// anything of that is not known, the answer is no.
func (p *Profile) Accepted(rules *policy.Policy, w driver.WindowRef) func(ruleID string) bool {
	return func(ruleID string) bool {
		digest, window, ok := reviewed(rules, ruleID, w)
		if !ok {
			return false
		}
		reviews, err := p.Reviews()
		return err == nil && slices.ContainsFunc(reviews, func(r Review) bool {
			return r.Rule == digest && r.Window == window
		})
	}
}

// DropReviews takes back what was accepted for these rules in window w, since
// they match there now. When it returns nil that is on the disk.
func (p *Profile) DropReviews(rules *policy.Policy, w driver.WindowRef, ruleIDs ...string) error {
	stale := func(r Review) bool {
		return slices.ContainsFunc(ruleIDs, func(id string) bool {
			digest, window, ok := reviewed(rules, id, w)
			return ok && r.Rule == digest && r.Window == window
		})
	}
	reviews, err := p.Reviews()
	if err != nil || !slices.ContainsFunc(reviews, stale) {
		return err
	}
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	lock, err := statefile.LockContext(ctx, p.path(ReviewsLock))
	if err != nil {
		return err
	}
	defer lock.Unlock()
	if reviews, err = p.Reviews(); err != nil {
		return err
	}
	kept := EncodeReviews(slices.DeleteFunc(slices.Clone(reviews), stale))
	if bytes.Equal(kept, EncodeReviews(reviews)) {
		return nil
	}
	return statefile.Replace(p.path(ReviewsFile), kept, nil)
}

// reviewed is what a review of the rule in the selected window w would name.
func reviewed(rules *policy.Policy, ruleID string, w driver.WindowRef) (digest string, window ReviewWindow, ok bool) {
	rule, ok := rules.Rule(ruleID)
	if !ok || w.IsZero() {
		return "", ReviewWindow{}, false
	}
	for _, s := range rules.Windows() {
		if s.PID == w.PID && s.WindowID == w.ID && s.Start != 0 {
			return rule.Digest(), ReviewWindow{s.PID, s.Start, s.WindowID}, true
		}
	}
	return "", ReviewWindow{}, false
}
