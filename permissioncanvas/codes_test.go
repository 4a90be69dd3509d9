package permissioncanvas_test

import (
	"context"
	"encoding/json"
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/permission-canvas/permission-canvas/driver/drivertest"
	canvas "github.com/permission-canvas/permission-canvas/permissioncanvas"
	"github.com/permission-canvas/permission-canvas/permissioncanvas/guard"
)

// Every code has one sentence and one Next, is in the published list, and is
// used with the detail that its sentence takes.
func TestBX07EveryCodeHasANextAndASentence(t *testing.T) {
	published := strings.Fields(`paused no_window_selected window_changed ambiguous_window hidden read_only approval_required
		approval_denied approval_expired stale_snapshot stale_token unknown_element element_changed rule_unmatched too_many_pending
		busy argument_unknown coordinates_refused drag_refused clipboard_refused focus_unknown scroll_refused covered
		background_unavailable withheld browser_page_unavailable capture_incomplete tool_denied tool_uncovered no_approver
		policy_invalid audit_failed driver_failed effect_uncertain desktop_placement_refused manifest_invalid migration_required
		bad_request`)
	names, err := filepath.Glob("*.go")
	require.NoError(t, err)
	var files []*ast.File
	for _, name := range names {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		f, err := parser.ParseFile(token.NewFileSet(), name, nil, 0)
		require.NoError(t, err)
		files = append(files, f)
	}
	codes, sentences, next := map[string]string{}, map[string]string{}, map[string]string{}
	type use struct {
		code    string
		details int
	}
	var uses []use
	for _, file := range files {
		ast.Inspect(file, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.ValueSpec:
				if id, ok := n.Type.(*ast.Ident); ok && id.Name == "Code" && len(n.Values) == 1 {
					codes[n.Names[0].Name] = unquoted(t, n.Values[0])
				}
				if n.Names[0].Name == "refusals" {
					for _, e := range n.Values[0].(*ast.CompositeLit).Elts {
						kv := e.(*ast.KeyValueExpr)
						row := kv.Value.(*ast.CompositeLit)
						name := kv.Key.(*ast.Ident).Name
						next[name], sentences[name] = row.Elts[0].(*ast.Ident).Name, unquoted(t, row.Elts[1])
					}
				}
			case *ast.CallExpr:
				if f, ok := n.Fun.(*ast.Ident); ok && f.Name == "refuse" {
					if code, ok := n.Args[0].(*ast.Ident); ok {
						uses = append(uses, use{code.Name, len(n.Args) - 2})
					}
				}
			}
			return true
		})
	}
	var words []string
	for name, word := range codes {
		words = append(words, word)
		require.Contains(t, []string{"Stop", "AskPerson", "RetrySame", "CaptureAgain", "Inspect"}, next[name], name)
		require.NotEmpty(t, sentences[name], name)
		if name != "BadRequest" {
			require.Regexp(t, `^[A-Z].*[.]$`, sentences[name], name)
		}
		require.LessOrEqual(t, strings.Count(sentences[name], "%"), 1, name)
	}
	require.ElementsMatch(t, published, words)
	for _, u := range uses {
		takes := strings.Count(sentences[u.code], "%s")
		if u.code == "ApprovalExpired" || u.code == "Paused" {
			continue
		}
		require.Equal(t, takes, min(u.details, 1), "refuse(%s) with %d details for %q", u.code, u.details, sentences[u.code])
	}
}

func unquoted(t *testing.T, e ast.Expr) string {
	s, err := strconv.Unquote(e.(*ast.BasicLit).Value)
	require.NoError(t, err)
	return s
}

// Every tool that a person may find in a driver is decided, by name, as the
// guard has it, and none of them reaches the driver by the wrong door.
func TestPC30EveryRecordedToolIsDecided(t *testing.T) {
	d, liar := lying(t, fields())
	d.look(console)
	for _, tool := range guard.Recorded().Tools() {
		uses := liar.Calls(drivertest.CallTool)
		_, err := d.Call(context.Background(), tool, json.RawMessage(`{"nothing":1}`))
		e := typed(t, err)
		switch guard.CoverageOf(tool) {
		case guard.Uncovered:
			require.Contains(t, []canvas.Code{canvas.ToolUncovered, canvas.ToolDenied}, e.Code, tool)
		default:
			require.NotContains(t, []canvas.Code{canvas.ToolUncovered, canvas.ToolDenied}, e.Code, tool)
		}
		require.Equal(t, uses, liar.Calls(drivertest.CallTool), tool)
	}
	require.Zero(t, liar.Dispatched())
}
