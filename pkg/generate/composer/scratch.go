package composer

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
)

const scratchPrefix = "composer-"

// Scratch returns a folder in dir for the temporary files of this process. It removes the folders of processes that
// were killed.
func Scratch(dir string) (string, error) {
	left, err := filepath.Glob(filepath.Join(dir, scratchPrefix+"*"))
	if err != nil {
		return "", fmt.Errorf("stored: %w", err)
	}
	for _, folder := range left {
		pid, err := strconv.Atoi(strings.TrimPrefix(filepath.Base(folder), scratchPrefix))
		if err != nil || pid != os.Getpid() && !errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) {
			continue
		}
		if err := os.RemoveAll(folder); err != nil {
			return "", fmt.Errorf("stored: %w", err)
		}
	}
	own := filepath.Join(dir, scratchPrefix+strconv.Itoa(os.Getpid()))
	if err := os.Mkdir(own, 0o700); err != nil {
		return "", fmt.Errorf("stored: %w", err)
	}
	return own, nil
}
