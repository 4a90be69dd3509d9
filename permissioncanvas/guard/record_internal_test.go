//go:build record

package guard

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

var record = flag.String("record", "", "write catalogue.json from the `directory` that holds recorded tools-VERSION.json")

// TestRecord makes catalogue.json from recorded lists, which are not kept here.
func TestRecord(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(*record, "tools-*.json"))
	require.NoError(t, err)
	require.NotEmpty(t, files)
	catalogue := map[string]map[string]said{}
	for _, file := range files {
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		version := strings.TrimSuffix(strings.TrimPrefix(filepath.Base(file), "tools-"), ".json")
		catalogue[version] = recordList(t, text)
	}
	out, err := json.Marshal(catalogue)
	require.NoError(t, err)
	out = bytes.ReplaceAll(out, []byte("},"), []byte("},\n")) // a line for each tool
	require.NoError(t, os.WriteFile("catalogue.json", append(out, '\n'), 0o644))
}

func recordList(t *testing.T, text []byte) map[string]said {
	t.Helper()
	var list struct {
		Tools []json.RawMessage `json:"tools"`
	}
	require.NoError(t, json.Unmarshal(text, &list))
	tools := map[string]said{}
	for _, entry := range list.Tools {
		var tool struct {
			Name        string          `json:"name"`
			Description string          `json:"description"`
			InputSchema json.RawMessage `json:"inputSchema"`
		}
		require.NoError(t, json.Unmarshal(entry, &tool))
		schema, ok := meaning(tool.InputSchema)
		require.True(t, ok, tool.Name)
		whole, ok := meaning(entry)
		require.True(t, ok, tool.Name)
		require.NotContains(t, tools, tool.Name)
		tools[tool.Name] = said{Description: digest([]byte(tool.Description)), Schema: schema, Entry: whole}
	}
	return tools
}
