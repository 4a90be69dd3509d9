package statefile

import (
	"fmt"
	"os"
	"unsafe"

	"golang.org/x/sys/windows"
)

// writing are the rights that let somebody change what is in a directory.
const writing = windows.FILE_WRITE_DATA | windows.FILE_APPEND_DATA | deleteChild |
	windows.DELETE | windows.WRITE_DAC | windows.WRITE_OWNER |
	windows.GENERIC_WRITE | windows.GENERIC_ALL

const deleteChild = 0x40 // FILE_DELETE_CHILD

// private looks at what is cheap to know: the owner, and whether one of the
// groups that every user belongs to may write. A right given by name to another
// single user is not looked for.
func private(path string) error {
	st, err := os.Lstat(path)
	if err != nil {
		return err
	}
	if !st.IsDir() {
		return fmt.Errorf("%s is a link or a junction: name the directory itself", path)
	}
	sd, err := windows.GetNamedSecurityInfo(path, windows.SE_FILE_OBJECT,
		windows.OWNER_SECURITY_INFORMATION|windows.DACL_SECURITY_INFORMATION)
	if err != nil {
		return fmt.Errorf("read the access list of %s: %w", path, err)
	}
	owner, _, err := sd.Owner()
	if err != nil {
		return fmt.Errorf("read the owner of %s: %w", path, err)
	}
	user, err := windows.GetCurrentProcessToken().GetTokenUser()
	if err != nil {
		return fmt.Errorf("read the current user: %w", err)
	}
	if !owner.Equals(user.User.Sid) && !owner.IsWellKnown(windows.WinBuiltinAdministratorsSid) &&
		!owner.IsWellKnown(windows.WinLocalSystemSid) {
		return fmt.Errorf("directory %s belongs to %s, not to you: choose another one", path, owner)
	}
	dacl, _, err := sd.DACL()
	if err != nil || dacl == nil {
		return fmt.Errorf("directory %s has no access list, so everybody may write in it", path)
	}
	return closed(path, dacl)
}

// closed refuses an entry, inherit-only ones too since new files get them, that
// lets everybody write.
func closed(path string, dacl *windows.ACL) error {
	for i := range uint32(dacl.AceCount) {
		var ace *windows.ACCESS_ALLOWED_ACE
		if err := windows.GetAce(dacl, i, &ace); err != nil {
			return fmt.Errorf("read the access list of %s: %w", path, err)
		}
		if ace.Header.AceType != windows.ACCESS_ALLOWED_ACE_TYPE || ace.Mask&writing == 0 {
			continue
		}
		sid := (*windows.SID)(unsafe.Pointer(&ace.SidStart))
		for _, group := range []windows.WELL_KNOWN_SID_TYPE{
			windows.WinWorldSid, windows.WinAuthenticatedUserSid, windows.WinBuiltinUsersSid,
			windows.WinInteractiveSid, windows.WinBuiltinGuestsSid,
		} {
			if sid.IsWellKnown(group) {
				return fmt.Errorf("other users (%s) may write in directory %s: take that right away or choose another place", sid, path)
			}
		}
	}
	return nil
}
