package control

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"image"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"github.com/permission-canvas/permission-canvas/internal/statefile"
	"github.com/permission-canvas/permission-canvas/internal/strictjson"
	"github.com/permission-canvas/permission-canvas/permissioncanvas/policy"
	"github.com/permission-canvas/permission-canvas/permissioncanvas/sight"
	"github.com/permission-canvas/permission-canvas/redact"
)

// numbering is which control had which number in the last preview. It holds
// no words of the screen: a control is known by a keyed digest of what it is.
type numbering struct {
	Version  int         `json:"version"`
	Window   listedEntry `json:"window"`
	Controls []string    `json:"controls"`
}

const numberingFile = "preview.json"

// mark is what a control is remembered by. Where it stands counts only among
// several that are alike.
func (d *Desk) mark(id policy.Identity) string {
	if id.Count == 1 {
		id.Bounds = image.Rectangle{}
	}
	return d.profile.Digest("preview 1 " + string(id.Encode()))
}

// number remembers the numbers of an outline.
func (d *Desk) number(look *sight.Look, controls []Control) error {
	n := numbering{Version: 1, Controls: []string{}, Window: listedEntry{look.Window.Ref.PID, look.Window.Start, look.Window.Ref.ID}}
	for _, c := range controls {
		n.Controls = append(n.Controls, d.mark(policy.Identify(look.Snapshot, c.element)))
	}
	data, err := json.Marshal(n)
	if err != nil {
		return err
	}
	return statefile.Replace(filepath.Join(d.Dir(), numberingFile), append(data, '\n'), &statefile.ReplaceOptions{NoSync: true})
}

// numbers is the last preview's numbering.
func (d *Desk) numbers() (numbering, error) {
	var n numbering
	data, err := statefile.Read(filepath.Join(d.Dir(), numberingFile), 4<<20)
	if errors.Is(err, fs.ErrNotExist) {
		return n, fmt.Errorf("numbers are those of a preview: look first, with `%s`", d.Command("preview"))
	}
	if err == nil {
		err = strictjson.Decode(data, &n)
	}
	if err != nil {
		return n, fmt.Errorf("the last preview's numbers cannot be read: look again (%w)", err)
	}
	return n, nil
}

// Numbered is what SetNumbered did.
type Numbered struct {
	Rules    []Rule // made
	Replaced []Rule // other rules for the very same controls, removed for them
	Already  []int  // numbers that had the level by such a rule before
	Notes    []string
}

// SetNumbered gives level to the controls that the last preview had under these
// numbers: all of them, or none. It looks at the window again, and what is not
// there any more as it was is refused. A text is meant by as; with several
// numbers only those that cannot be named otherwise.
func (d *Desk) SetNumbered(ctx context.Context, level Level, numbers []int, as As) (Numbered, error) {
	n, err := d.numbers()
	if err != nil {
		return Numbered{}, err
	}
	ref := WindowRef{PID: n.Window.PID, ID: n.Window.WindowID}
	look, err := d.look(ctx, ref)
	if err != nil {
		return Numbered{}, err
	}
	if look.Window.Start != n.Window.Start {
		return Numbered{}, errors.New("that window is gone and another one has its number: look again")
	}
	elements, err := d.again(look, n, numbers)
	if err != nil {
		return Numbered{}, err
	}
	e := &numberEdit{desk: d, look: look, level: level, numbers: numbers, elements: elements}
	if err := e.make(as); err != nil {
		return Numbered{}, err
	}
	fields := map[string]string{"edit": "number", "level": string(level)}
	err = d.edit(ctx, fields, func(doc Document) (Document, error) {
		doc, err := e.apply(doc)
		if err == nil {
			fields["rules"], fields["removed"] = idsOf(e.done.Rules), idsOf(e.done.Replaced)
		}
		return doc, err
	})
	if errors.Is(err, errNothingToDo) {
		err = nil
	}
	if err != nil {
		return Numbered{}, err
	}
	return e.done, nil
}

func idsOf(rules []Rule) string {
	var all []string
	for _, r := range rules {
		all = append(all, r.ID)
	}
	return strings.Join(all, " ")
}

// again finds the numbered controls in a new look.
func (d *Desk) again(look *sight.Look, n numbering, numbers []int) ([]int, error) {
	there := map[string][]int{}
	for i := range look.Snapshot.Elements {
		m := d.mark(policy.Identify(look.Snapshot, i))
		there[m] = append(there[m], i)
	}
	var out []int
	for _, k := range numbers {
		if k < 1 || k > len(n.Controls) {
			return nil, fmt.Errorf("there is no control %d: the last preview had %d", k, len(n.Controls))
		}
		found := there[n.Controls[k-1]]
		if len(found) != 1 {
			return nil, fmt.Errorf("control %d is not there any more as the preview had it: look again", k)
		}
		out = append(out, found[0])
	}
	return out, nil
}

// A numberEdit makes rules for some controls of one look.
type numberEdit struct {
	desk     *Desk
	look     *sight.Look
	level    Level
	numbers  []int
	elements []int
	rules    []Rule // by element
	notes    []string
	done     Numbered
}

// make makes the rules.
func (e *numberEdit) make(as As) error {
	s, digest := e.look.Snapshot, e.desk.profile.Digest
	several := len(e.elements) > 1
	var numbers, elements, texts []int
	for k, i := range e.elements {
		rule, err := policy.RuleFor(e.level, s, i, digest)
		if err != nil && as == "" && e.level != LevelHide && !isControl(s.Elements[i].Role) {
			if !several {
				return fmt.Errorf("control %d has nothing to use: whatever is not hidden can be read", e.numbers[k])
			}
			texts = append(texts, e.numbers[k])
			continue
		}
		if as != "" && (!several || err != nil) {
			if rule, err = offered(policy.Offers(e.level, s, i, digest), as); err != nil {
				return fmt.Errorf("control %d: %w", e.numbers[k], err)
			}
		}
		if err != nil {
			err = fmt.Errorf("control %d: %w", e.numbers[k], err)
			if offers := policy.Offers(e.level, s, i, digest); len(offers) > 0 {
				return &TextError{Offers: offers, Err: err}
			}
			return err
		}
		e.rules = append(e.rules, rule)
		numbers, elements = append(numbers, e.numbers[k]), append(elements, i)
	}
	if len(texts) > 0 {
		e.notes = append(e.notes, "Left out, as there is nothing to use: "+strings.Trim(fmt.Sprint(texts), "[]")+".")
	}
	e.numbers, e.elements = numbers, elements
	return nil
}

func offered(offers []policy.Offer, as As) (Rule, error) {
	for _, o := range offers {
		if o.Kind == as {
			return o.Rule, nil
		}
	}
	return Rule{}, fmt.Errorf("there is no %s for it", as)
}

var errNothingToDo = errors.New("the rules say so already")

// apply puts the rules into doc. Another rule for the very same control makes
// way, but for one that hides: to show what is hidden takes its removal.
func (e *numberEdit) apply(doc Document) (Document, error) {
	e.done = Numbered{Notes: slices.Clone(e.notes)}
	before := e.hides(doc)
	for k, rule := range e.rules {
		var err error
		if doc, err = e.clear(doc, k, rule); err != nil {
			return doc, err
		}
		var twice *policy.DuplicateError
		next, err := doc.AddRule(rule)
		switch {
		case errors.As(err, &twice):
			if !slices.ContainsFunc(e.done.Rules, func(r Rule) bool { return r.ID == twice.ID }) {
				e.done.Already = append(e.done.Already, e.numbers[k])
			}
		case err != nil:
			return doc, fmt.Errorf("control %d: %w", e.numbers[k], err)
		default:
			doc = next
			e.done.Rules = append(e.done.Rules, doc.Rules[len(doc.Rules)-1])
		}
	}
	if err := e.holds(doc); err != nil {
		return doc, err
	}
	if n := e.hides(doc) - before; n > 0 && e.level == LevelHide {
		e.done.Notes = append(e.done.Notes, fmt.Sprintf("That hides %s more than before in this window.", things(n)))
	}
	if len(e.done.Rules)+len(e.done.Replaced) == 0 {
		return doc, errNothingToDo
	}
	return doc, nil
}

func things(n int) string {
	if n == 1 {
		return "1 thing"
	}
	return fmt.Sprintf("%d things", n)
}

// clear removes from doc the rules of another level that name the control of
// rule as rule does.
func (e *numberEdit) clear(doc Document, k int, rule Rule) (Document, error) {
	for _, r := range slices.Clone(doc.Rules) {
		if r.Level == e.level || lasting(r.Match) != lasting(rule.Match) ||
			!slices.Contains(e.look.Judgement.Verdicts[e.elements[k]].Rules, r.ID) {
			continue
		}
		if r.Level == LevelHide {
			return doc, fmt.Errorf("control %d is hidden by rule %s: remove that first, with `%s`", e.numbers[k], r.ID, e.desk.Command("rule rm "+r.ID))
		}
		var err error
		if doc, err = doc.RemoveRule(r.ID); err != nil {
			return doc, err
		}
		e.done.Replaced = append(e.done.Replaced, r)
	}
	return doc, nil
}

// lasting is what m says of a control and its application, without a live
// window, as one text.
func lasting(m policy.Match) string {
	m.PID, m.Start, m.WindowID, m.WindowTitle, m.Within = 0, 0, 0, "", nil
	data, _ := json.Marshal(m) // strings and numbers: it cannot fail
	return string(data)
}

// holds reports whether every control has the level now, or which rule keeps
// it from that.
func (e *numberEdit) holds(doc Document) error {
	j, plan, rules, err := e.judge(doc)
	if err != nil {
		return err
	}
	for k, i := range e.elements {
		v := j.Verdicts[i]
		gone := plan.Verdicts[i] == redact.Hide || plan.Verdicts[i] == redact.Omit
		switch {
		case gone == (e.level == LevelHide) && (gone || v.Level == e.level):
			continue
		case gone && !v.Hidden:
			return fmt.Errorf("control %d stays hidden, with what it is in or lies over", e.numbers[k])
		}
		var why []string
		for _, id := range v.Rules {
			if r, ok := rules.Rule(id); ok && r.Level == v.Level {
				why = append(why, id)
			}
		}
		if len(why) == 0 {
			return fmt.Errorf("control %d would not get this level from such a rule: it stays %s", e.numbers[k], v.Level.Word())
		}
		return fmt.Errorf("control %d stays %s because of rule %s, which says more than this control", e.numbers[k], v.Level.Word(), strings.Join(why, ", "))
	}
	return nil
}

// hides counts what doc hides in the window, 0 where that is unknown.
func (e *numberEdit) hides(doc Document) int {
	_, plan, _, err := e.judge(doc)
	n := 0
	for _, v := range plan.Verdicts {
		if err == nil && v == redact.Hide {
			n++
		}
	}
	return n
}

func (e *numberEdit) judge(doc Document) (policy.Judgement, redact.Plan, *policy.Policy, error) {
	rules, err := policy.Compile(doc)
	if err != nil {
		return policy.Judgement{}, redact.Plan{}, nil, err
	}
	j := rules.Judge(e.look.Snapshot, e.desk.profile.Digest)
	return j, sight.Plan(e.look.Snapshot, j), rules, nil
}
