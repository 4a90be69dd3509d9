package guard

// row is what the table holds for one tool.
type row struct {
	category Category
	coverage Coverage
}

// table holds the tools of cua-driver 0.21 to 0.37 on Linux, Windows and macOS.
// Whoever adds one says that its behaviour was looked at; the catalogue says
// which words and arguments of it were.
var table = map[string]row{
	"list_apps":              {Observe, Enforced},
	"list_windows":           {Observe, Enforced},
	"get_window_state":       {Observe, Enforced},
	"get_desktop_state":      {Observe, Uncovered},
	"get_accessibility_tree": {Observe, Uncovered},
	"get_screen_size":        {Observe, Harmless},
	"get_cursor_position":    {Observe, Harmless},
	"zoom":                   {Observe, Uncovered},
	"verify_state":           {Observe, Uncovered},
	"clipboard_read":         {Observe, Uncovered},
	"get_browser_state":      {Observe, Uncovered},
	"get_agent_cursor_state": {Observe, Uncovered},
	"get_recording_state":    {Observe, Uncovered},
	"get_config":             {Observe, Uncovered},
	"get_session":            {Observe, Harmless},
	"list_sessions":          {Observe, Uncovered},
	"get_session_state":      {Observe, Uncovered},
	"check_permissions":      {Observe, Uncovered},
	"health_report":          {Observe, Uncovered},
	"debug_window_info":      {Observe, Uncovered},
	"check_for_update":       {Observe, Uncovered},
	"get_guide":              {Observe, Uncovered},
	"parse_visual_regions":   {Observe, Uncovered},

	"click":               {Input, Enforced},
	"double_click":        {Input, Enforced},
	"right_click":         {Input, Enforced},
	"drag":                {Input, Enforced},
	"scroll":              {Input, Enforced},
	"type_text":           {Input, Enforced},
	"press_key":           {Input, Enforced},
	"hotkey":              {Input, Enforced},
	"set_value":           {Input, Enforced},
	"mouse_button_down":   {Input, Uncovered},
	"mouse_drag":          {Input, Uncovered},
	"mouse_button_up":     {Input, Uncovered},
	"parallel_mouse_drag": {Input, Uncovered},
	"run_steps":           {Input, Uncovered}, // a list of inputs

	"move_cursor":              {AgentCursor, Uncovered},
	"set_agent_cursor_enabled": {AgentCursor, Uncovered},
	"set_agent_cursor_motion":  {AgentCursor, Uncovered},
	"set_agent_cursor_theme":   {AgentCursor, Uncovered},

	"bring_to_front":   {Window, Enforced},
	"set_window_frame": {Window, Uncovered},

	"clipboard_write": {Clipboard, Uncovered},

	"browser_navigate": {Browser, Uncovered},
	"browser_click":    {Browser, Uncovered},
	"browser_type":     {Browser, Uncovered},
	"browser_pointer":  {Browser, Uncovered},
	"browser_dialog":   {Browser, Uncovered},
	"browser_select":   {Browser, Uncovered},

	"start_session": {Session, Harmless},
	"end_session":   {Session, Harmless},

	"launch_app": {Launch, Uncovered},
	"run_script": {Launch, Uncovered}, // its program can launch

	"browser_prepare":         {BrowserPrivileged, Uncovered},
	"browser_set_input_files": {BrowserPrivileged, Uncovered},
	"browser_download":        {BrowserPrivileged, Uncovered},
	"page":                    {BrowserPrivileged, Uncovered},

	"start_recording": {Recording, Uncovered},
	"stop_recording":  {Recording, Uncovered},

	"escalate_session": {Escalate, Uncovered},

	"invoke_menu": {Menu, Uncovered},

	"replay_trajectory": {Replay, Uncovered},

	"install_ffmpeg":    {Install, Uncovered},
	"install_extension": {Install, Uncovered},

	"kill_app": {Process, Uncovered},

	"set_config": {Driver, Uncovered},

	"history_status": {Unknown, Uncovered}, // a person's past: nobody vouches for these two
	"history_query":  {Unknown, Uncovered},
}
