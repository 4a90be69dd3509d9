package driver

import "strings"

// Role is the kind of a control, in ARIA's words: a closed set, so that a rule
// means the same on every toolkit. Element.RawRole keeps the toolkit's word.
type Role string

const (
	RoleUnknown   Role = ""
	RoleWindow    Role = "window"
	RoleDialog    Role = "dialog"
	RoleDocument  Role = "document"
	RoleGroup     Role = "group"
	RoleForm      Role = "form"
	RoleButton    Role = "button"
	RoleCheckbox  Role = "checkbox"
	RoleRadio     Role = "radio"
	RoleSwitch    Role = "switch"
	RoleTextbox   Role = "textbox"
	RolePassword  Role = "password"
	RoleCombobox  Role = "combobox"
	RoleListbox   Role = "listbox"
	RoleOption    Role = "option"
	RoleSlider    Role = "slider"
	RoleSpin      Role = "spinbutton"
	RoleScrollbar Role = "scrollbar"
	RoleScroll    Role = "scrollarea"
	RoleLink      Role = "link"
	RoleImage     Role = "img"
	RoleHeading   Role = "heading"
	RoleParagraph Role = "paragraph"
	RoleText      Role = "text" // static text
	RoleList      Role = "list"
	RoleListItem  Role = "listitem"
	RoleTable     Role = "table"
	RoleRow       Role = "row"
	RoleCell      Role = "cell"
	RoleTree      Role = "tree"
	RoleTreeItem  Role = "treeitem"
	RoleMenubar   Role = "menubar"
	RoleMenu      Role = "menu"
	RoleMenuItem  Role = "menuitem"
	RoleTab       Role = "tab"
	RoleTabList   Role = "tablist"
	RoleToolbar   Role = "toolbar"
	RoleStatus    Role = "status"
	RoleProgress  Role = "progressbar"
	RoleTooltip   Role = "tooltip"
	RoleAlert     Role = "alert"
	RoleSeparator Role = "separator"
)

// toolkit maps the words of AT-SPI, UI Automation and AX to ARIA's.
var toolkit = map[string]Role{
	"frame": RoleWindow, "axwindow": RoleWindow,
	"file chooser": RoleDialog, "axsheet": RoleDialog,
	"document web": RoleDocument, "document frame": RoleDocument, "document text": RoleDocument,
	"internal frame": RoleDocument, "axwebarea": RoleDocument,
	"panel": RoleGroup, "section": RoleGroup, "filler": RoleGroup, "pane": RoleGroup, "grouping": RoleGroup,
	"axgroup": RoleGroup, "split pane": RoleGroup, "layered pane": RoleGroup, "custom": RoleGroup,
	"push button": RoleButton, "push button menu": RoleButton, "axbutton": RoleButton, "splitbutton": RoleButton,
	"toggle button": RoleButton,
	"check box":     RoleCheckbox, "axcheckbox": RoleCheckbox, "check menu item": RoleMenuItem,
	"radio button": RoleRadio, "axradiobutton": RoleRadio, "radio menu item": RoleMenuItem,
	"entry": RoleTextbox, "text box": RoleTextbox, "edit": RoleTextbox, "axtextfield": RoleTextbox,
	"axtextarea": RoleTextbox, "terminal": RoleTextbox, "editbar": RoleTextbox,
	"password text": RolePassword, "axsecuretextfield": RolePassword,
	"combo box": RoleCombobox, "axcombobox": RoleCombobox, "axpopupbutton": RoleCombobox,
	"list box": RoleListbox, "list item": RoleListItem, "axrow": RoleRow,
	"axslider": RoleSlider, "spin button": RoleSpin, "spinner": RoleSpin, "axincrementor": RoleSpin,
	"scroll bar": RoleScrollbar, "axscrollbar": RoleScrollbar,
	"scroll pane": RoleScroll, "viewport": RoleScroll, "axscrollarea": RoleScroll,
	"hyperlink": RoleLink, "axlink": RoleLink,
	"image": RoleImage, "icon": RoleImage, "aximage": RoleImage, "canvas": RoleImage,
	"axheading": RoleHeading,
	"static":    RoleText, "label": RoleText, "axstatictext": RoleText, "caption": RoleText,
	"table row": RoleRow, "dataitem": RoleRow, "table cell": RoleCell, "axcell": RoleCell,
	"table column header": RoleCell, "table row header": RoleCell, "headeritem": RoleCell, "datagrid": RoleTable,
	"tree item": RoleTreeItem, "tree table": RoleTree,
	"menu bar": RoleMenubar, "axmenubar": RoleMenubar, "axmenu": RoleMenu,
	"menu item": RoleMenuItem, "axmenuitem": RoleMenuItem,
	"page tab": RoleTab, "tabitem": RoleTab, "page tab list": RoleTabList,
	"tool bar": RoleToolbar, "axtoolbar": RoleToolbar,
	"status bar": RoleStatus, "statusbar": RoleStatus, "progress bar": RoleProgress,
	"tool tip": RoleTooltip, "notification": RoleAlert, "info bar": RoleAlert,

	// AT-SPI calls an editable text view "text" and a static one "static" or
	// "label". A driver that knows better sets Role itself.
	"text": RoleTextbox, "textbox": RoleTextbox,

	string(RoleWindow): RoleWindow, string(RoleDialog): RoleDialog, string(RoleDocument): RoleDocument, string(RoleGroup): RoleGroup,
	string(RoleForm): RoleForm, string(RoleButton): RoleButton, string(RoleCheckbox): RoleCheckbox, string(RoleRadio): RoleRadio,
	string(RoleSwitch): RoleSwitch, string(RolePassword): RolePassword, string(RoleCombobox): RoleCombobox,
	string(RoleListbox): RoleListbox, string(RoleOption): RoleOption, string(RoleSlider): RoleSlider, string(RoleSpin): RoleSpin,
	string(RoleScrollbar): RoleScrollbar, string(RoleScroll): RoleScroll, string(RoleLink): RoleLink, string(RoleImage): RoleImage,
	string(RoleHeading): RoleHeading, string(RoleParagraph): RoleParagraph, string(RoleList): RoleList,
	string(RoleListItem): RoleListItem, string(RoleTable): RoleTable, string(RoleRow): RoleRow, string(RoleCell): RoleCell,
	string(RoleTree): RoleTree, string(RoleTreeItem): RoleTreeItem, string(RoleMenubar): RoleMenubar, string(RoleMenu): RoleMenu,
	string(RoleMenuItem): RoleMenuItem, string(RoleTab): RoleTab, string(RoleTabList): RoleTabList, string(RoleToolbar): RoleToolbar,
	string(RoleStatus): RoleStatus, string(RoleProgress): RoleProgress, string(RoleTooltip): RoleTooltip, string(RoleAlert): RoleAlert,
	string(RoleSeparator): RoleSeparator,
}

// RoleOf returns the ARIA word for a toolkit's word, RoleUnknown for one that
// is not known.
func RoleOf(raw string) Role { return toolkit[strings.ToLower(strings.TrimSpace(raw))] }

// IsTextField reports whether the control takes typed text.
func (r Role) IsTextField() bool { return r == RoleTextbox || r == RolePassword || r == RoleSpin }

// IsValueControl reports whether a wheel over the control may change it.
func (r Role) IsValueControl() bool {
	return r == RoleSlider || r == RoleSpin || r == RoleCombobox || r == RoleListbox
}
