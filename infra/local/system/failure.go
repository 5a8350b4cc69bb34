package system

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
)

// logged adds to an error of a child the end of what the child wrote, which says why.
func logged(err error, doing, log string) error {
	if errors.Is(err, context.Canceled) {
		return err
	}
	const lines = 15
	text, readErr := os.ReadFile(log)
	if readErr != nil || len(bytes.TrimSpace(text)) == 0 {
		return fmt.Errorf("%s failed: %w", doing, err)
	}
	all := bytes.Split(bytes.TrimSpace(text), []byte("\n"))
	if len(all) > lines {
		all = all[len(all)-lines:]
	}
	return fmt.Errorf("%s failed (%w); all of it is in %s, which ends:\n%s", doing, err, log, bytes.Join(all, []byte("\n")))
}
