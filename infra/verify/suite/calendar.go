package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// calendar runs the tests of packages on other days and in other zones: the end of a year and of a month, a leap day,
// and the days on which clocks change, each so that the moment itself passes while the tests run. Its output is that of
// go test -json.
//
// The clock is that of the package time, in a copy of it that adds a constant to what Now returns. Fake clocks of
// testing/synctest, timers and deadlines are as always.
func calendar(ctx context.Context, args []string) error {
	flags := flag.NewFlagSet("calendar", flag.ContinueOnError)
	only := flags.String("only", "", "run the moment with this name alone")
	skip := flags.String("skip", "", "leave out the tests that match this expression")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if *only != "" && !slices.ContainsFunc(moments, func(m moment) bool { return m.name == *only }) {
		return fmt.Errorf("calendar: there is no moment %q", *only)
	}
	packages := flags.Args()
	if len(packages) == 0 {
		packages = []string{"./pkg/..."}
	}
	return runAt(ctx, *only, *skip, packages)
}

// moment is a time at which the tests begin, and the zone of the machine.
type moment struct {
	name, begin, zone string
}

// moments are all times and zones. Kiritimati is 14 hours ahead of UTC, so that its date is often another; St. John's
// is three and a half hours behind, and changes its clock.
var moments = []moment{
	{"new year in Kiritimati", "2026-12-31T23:59:00+14:00", "Pacific/Kiritimati"},
	{"new year in UTC", "2026-12-31T23:59:00Z", "America/St_Johns"},
	{"leap day in St. John's", "2028-02-29T23:59:00-03:30", "America/St_Johns"},
	{"leap day in UTC", "2028-02-29T23:59:00Z", "Pacific/Kiritimati"},
	{"spring in St. John's", "2027-03-14T01:59:00-03:30", "America/St_Johns"},
	{"spring in Europe", "2027-03-28T00:59:00Z", "Pacific/Kiritimati"},
	{"autumn in Europe", "2027-10-31T00:59:00Z", "America/St_Johns"},
	{"autumn in St. John's", "2027-11-07T01:59:00-02:30", "America/St_Johns"},
}

// skips are tests of programs in other languages, which have the clock of the machine, and tests that are meant to
// fail some time before an end.
const skips = "^TestTheOfficialLibrariesVerifyWhatIsSent$|^TestNoModelIsOfferedAfterItsEnd$|^TestNoVersionOfAPlatformEndsSoon$"

// runAt runs the tests of packages at each moment, and returns an error if one has failed. The tests are compiled once:
// go test runs this program in their place, which runs them at the moments one after the other.
func runAt(ctx context.Context, only, skip string, packages []string) error {
	overlay, err := writeOverlay(ctx, "build/calendar")
	if err != nil {
		return err
	}
	self, err := os.Executable()
	if err != nil {
		return err
	}
	if skip != "" {
		skip += "|"
	}
	args := []string{"test", "-json", "-vet=off", "-p", "2", "-timeout", "120m", "-exec", self + " moments",
		"-skip", skip + skips}
	if only != "" {
		args = append(args, "-count=1") // its result is not that of all moments
	}
	cmd := exec.CommandContext(ctx, "go", append(args, packages...)...)
	// GOFLAGS holds also of programs that tests build.
	cmd.Env = append(os.Environ(), "GOFLAGS="+os.Getenv("GOFLAGS")+" -overlay="+overlay, "CALENDAR_ONLY="+only)
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	return cmd.Run()
}

// atMoments runs a test program at each moment, and returns an error if one run has failed. Each begins shortly before
// the moment.
func atMoments(ctx context.Context, out io.Writer, command []string) error {
	var failed error
	for _, m := range moments {
		if only := os.Getenv("CALENDAR_ONLY"); only != "" && only != m.name {
			continue
		}
		begin, err := time.Parse(time.RFC3339, m.begin)
		if err != nil {
			return err
		}
		cmd := exec.CommandContext(ctx, command[0], command[1:]...)
		cmd.Env = append(os.Environ(), "TZ="+m.zone,
			fmt.Sprintf("CALENDAR_SHIFT=%d", int64(time.Until(begin).Seconds())))
		cmd.Stdout, cmd.Stderr = out, out
		if err := cmd.Run(); err != nil {
			failed = errors.Join(failed, fmt.Errorf("%s: %w", m.name, err))
		}
	}
	return failed
}

// The call of time.Now that asks the runtime, and what takes its place.
const (
	asks    = "\tsec, nsec, mono := runtimeNow()\n"
	shifted = asks + "\tif !runtimeIsBubbled() {\n\t\tsec += calendarShift\n\t}\n"
)

// shift is the file of the package time that reads the constant.
const shift = `package time

import "syscall"

var calendarShift = func() (seconds int64) {
	text, _ := syscall.Getenv("CALENDAR_SHIFT")
	sign := int64(1)
	for _, c := range text {
		if c == '-' {
			sign = -1
			continue
		}
		seconds = seconds*10 + int64(c-'0')
	}
	return sign * seconds
}()
`

// writeOverlay writes the files with which go test builds the package time, and returns the name of their list: see
// the flag -overlay of go build.
func writeOverlay(ctx context.Context, folder string) (string, error) {
	root, err := exec.CommandContext(ctx, "go", "env", "GOROOT").Output()
	if err != nil {
		return "", err
	}
	source := filepath.Join(strings.TrimSpace(string(root)), "src", "time")
	b, err := os.ReadFile(filepath.Join(source, "time.go"))
	if err != nil {
		return "", err
	}
	if strings.Count(string(b), "func Now() Time {\n"+asks) != 1 {
		return "", errors.New("time.Now of this release of Go is not as expected: see asks in infra/verify/suite")
	}
	text := strings.Replace(string(b), "func Now() Time {\n"+asks, "func Now() Time {\n"+shifted, 1)
	folder, err = filepath.Abs(folder)
	if err != nil {
		return "", err
	}
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return "", err
	}
	replace := map[string]string{}
	for name, text := range map[string]string{"time.go": text, "calendar.go": shift} {
		replace[filepath.Join(source, name)] = filepath.Join(folder, name+".txt")
		if err := os.WriteFile(filepath.Join(folder, name+".txt"), []byte(text), 0o600); err != nil {
			return "", err
		}
	}
	list, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		return "", err
	}
	name := filepath.Join(folder, "overlay.json")
	return name, os.WriteFile(name, list, 0o600)
}
