package system

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
)

// logged adds the end of a child's log to its error, because the log has the cause.
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
	return fmt.Errorf("%s failed (%w); all of it is in %s, which ends:\n%s", doing, err, log,
		bytes.Join(all, []byte("\n")))
}
