package guard

import "fmt"

// Category is a class of tools that are trusted alike.
type Category string

const (
	Observe           Category = "observe"
	Input             Category = "input"
	AgentCursor       Category = "agentCursor"
	Window            Category = "window"
	Clipboard         Category = "clipboard"
	Browser           Category = "browser"
	Session           Category = "session"
	Launch            Category = "launch"
	BrowserPrivileged Category = "browserPrivileged"
	Recording         Category = "recording"
	Escalate          Category = "escalate"
	Menu              Category = "menu"
	Replay            Category = "replay"
	Install           Category = "install"
	Process           Category = "process"
	Driver            Category = "driver"
	Unknown           Category = "unknown" // every tool that the table does not hold
)

// Categories returns all seventeen, the seven ordinary ones first, in the
// order in which a person reads them.
func Categories() []Category {
	return []Category{
		Observe, Input, AgentCursor, Window, Clipboard, Browser, Session,
		Launch, BrowserPrivileged, Recording, Escalate, Menu, Replay, Install, Process, Driver, Unknown,
	}
}

// ParseCategory reads a category as files spell it.
func ParseCategory(text string) (Category, error) {
	for _, c := range Categories() {
		if string(c) == text {
			return c, nil
		}
	}
	return Unknown, fmt.Errorf("category %.40q is not known", text)
}

// Factory is the category's tier where nobody set one.
func (c Category) Factory() Tier {
	switch c {
	case Observe, Input, AgentCursor, Window, Clipboard, Browser, Session:
		return Auto
	case Launch, BrowserPrivileged, Recording, Escalate, Menu, Replay, Install:
		return Ask
	default:
		return Deny
	}
}

// Ordinary reports whether the category is one of the seven that everyday work
// needs.
func (c Category) Ordinary() bool { return c.Factory() == Auto }

// Means says in a few words what the category's tools do.
func (c Category) Means() string {
	switch c {
	case Observe:
		return "read windows, screen, clipboard and the driver's state"
	case Input:
		return "click, type, drag and scroll"
	case AgentCursor:
		return "move and style the agent's own pointer"
	case Window:
		return "raise, move and resize windows"
	case Clipboard:
		return "put something on the clipboard"
	case Browser:
		return "work inside browser tabs"
	case Session:
		return "begin and end the driver's session"
	case Launch:
		return "start applications and commands"
	case BrowserPrivileged:
		return "use browser profiles, files and scripts"
	case Recording:
		return "start and stop recordings"
	case Escalate:
		return "widen what a session may see, from a window to the desktop"
	case Menu:
		return "choose items of an application's menus"
	case Replay:
		return "run a recorded sequence again"
	case Install:
		return "install software"
	case Process:
		return "end applications"
	case Driver:
		return "change the driver's settings"
	default:
		return "tools that are not known here"
	}
}
