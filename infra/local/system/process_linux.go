package system

import "syscall"

// ownGroup also asks the kernel to end the child if this process dies without ending it.
func ownGroup() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGTERM}
}
