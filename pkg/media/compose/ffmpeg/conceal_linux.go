package ffmpeg

import (
	"fmt"
	"syscall"
)

// Conceal prevents other processes of the same user from reading the memory and environment of this one, which has
// credentials: a malicious file could take control of ffmpeg.
func Conceal() error {
	const setDumpable, no = 4, 0 // prctl(2)
	if _, _, errno := syscall.RawSyscall6(syscall.SYS_PRCTL, setDumpable, no, 0, 0, 0, 0); errno != 0 {
		return fmt.Errorf("ffmpeg: conceal the process: %w", errno)
	}
	return nil
}
