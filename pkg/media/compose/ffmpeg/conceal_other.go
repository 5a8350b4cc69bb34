//go:build !linux

package ffmpeg

// Conceal does nothing on systems that have no file of a process's environment.
func Conceal() error { return nil }
