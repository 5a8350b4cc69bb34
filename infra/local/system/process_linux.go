package system

import "syscall"

// ownGroup also asks the kernel to end the child when this process dies without
// having been able to.
func ownGroup() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGTERM}
}
