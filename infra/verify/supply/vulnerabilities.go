package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"
)

// longest is the longest time for which a row of the notes holds. They are renewed once a month.
const longest = 35 * 24 * time.Hour

// A look is one of the places where the command looks.
type look struct {
	name string
	// find returns what is known, or an error if it cannot look.
	find func(context.Context) ([]string, error)
	// away says that it looks outside of this machine.
	away bool
}

// vulnerabilities looks everywhere, and returns what it has found as an error.
func vulnerabilities(ctx context.Context) error {
	faults := examine(ctx, []look{
		{"notes about programs", func(context.Context) ([]string, error) { return notes(".", time.Now()) }, false},
		{"Go", goCode, true}, {"npm", npmPackages, true},
	}, os.Getenv("OFFLINE") == "yes")
	var all []error
	for _, fault := range faults {
		all = append(all, errors.New("vulnerabilities: "+fault))
	}
	return errors.Join(all...)
}

// examine looks everywhere, and returns what is wrong. Where it cannot look is wrong, too, unless it is offline.
func examine(ctx context.Context, all []look, offline bool) (faults []string) {
	for _, l := range all {
		found, err := l.find(ctx)
		for _, one := range found {
			faults = append(faults, l.name+": "+one)
		}
		switch {
		case err == nil:
			fmt.Printf("vulnerabilities: %s: looked, %d found\n", l.name, len(found))
		case offline && l.away:
			fmt.Printf("vulnerabilities: %s: not checked, as OFFLINE=yes says: %v\n", l.name, err)
		default:
			faults = append(faults, fmt.Sprintf("%s: not checked: %v. Where there is no network, say OFFLINE=yes", l.name, err))
		}
	}
	return faults
}

// pins are the versions of the programs that the script of the media tools installs.
var pins = map[string]*regexp.Regexp{
	"ffmpeg":   regexp.MustCompile(`ffmpeg-linux-x86_64-v([0-9.]+)'`),
	"ffprobe":  regexp.MustCompile(`ffprobeVersion = '([0-9.]+)'`),
	"c2pa":     regexp.MustCompile(`c2paVersion = '([0-9.]+)'`),
	"exiftool": regexp.MustCompile(`exiftool-vendored\.pl', '([0-9.]+)'`),
}

// notes compares the notes with the pinned versions.
func notes(root string, now time.Time) (found []string, err error) {
	script, err := os.ReadFile(filepath.Join(root, "infra", "tools", "media-tools.mjs"))
	if err != nil {
		return nil, err
	}
	text, err := os.ReadFile(filepath.Join(root, "infra", "tools", "faults.tsv"))
	if err != nil {
		return nil, err
	}
	pinned := map[string]string{}
	for tool, pattern := range pins {
		version := pattern.FindSubmatch(script)
		if version == nil {
			return nil, fmt.Errorf("the script of the media tools pins no %s", tool)
		}
		pinned[tool] = string(version[1])
	}
	return compare(string(text), pinned, now), nil
}

// compare returns what is wrong with notes.
func compare(text string, pinned map[string]string, now time.Time) (found []string) {
	for line := range strings.Lines(text) {
		row := strings.Split(strings.TrimRight(line, "\n"), "\t")
		if strings.HasPrefix(line, "#") || row[0] == "tool" || row[0] == "" {
			continue
		}
		if len(row) != 5 || slices.Contains(row, "") {
			found = append(found, fmt.Sprintf("the row %q has no five cells", row[0]))
			continue
		}
		version, known := pinned[row[0]]
		delete(pinned, row[0])
		day, err := time.Parse(time.DateOnly, row[2])
		switch age := now.UTC().Truncate(24 * time.Hour).Sub(day); {
		case !known:
			found = append(found, row[0]+" is not pinned, or has two rows")
		case version != row[1]:
			found = append(found, fmt.Sprintf("%s %s is pinned, and the note is about %s", row[0], version, row[1]))
		case err != nil || age < 0:
			found = append(found, fmt.Sprintf("%s was checked on %q, which is no day until now", row[0], row[2]))
		case age > longest:
			found = append(found, fmt.Sprintf("%s was checked on %s, more than 35 days ago: look again, and note it",
				row[0], row[2]))
		}
	}
	for tool := range pinned {
		found = append(found, tool+" has no note")
	}
	slices.Sort(found)
	return found
}

// goCode looks at what the functions call.
func goCode(ctx context.Context) ([]string, error) {
	const database = "https://vuln.go.dev"
	ask, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	req, err := http.NewRequestWithContext(ask, http.MethodGet, database+"/index/db.json", nil)
	if err != nil {
		return nil, err
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return nil, err
	}
	defer func() { _ = resp.Body.Close() }()
	if resp.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("the database of Go answers %s", resp.Status)
	}
	cmd := exec.CommandContext(ctx, "go", "tool", "-modfile=infra/tools/vuln.mod", "govulncheck", "-db", database,
		"./functions/...")
	out, err := cmd.CombinedOutput()
	fmt.Print(string(out))
	if exit := (*exec.ExitError)(nil); err != nil && asExit(err, &exit) && exit.ExitCode() == 3 {
		return []string{"see above"}, nil // 3: it has found some
	}
	return nil, err
}

func asExit(err error, into **exec.ExitError) bool {
	e, ok := err.(*exec.ExitError)
	*into = e
	return ok
}

// npmPackages looks at the packages of the lock files of the tools.
func npmPackages(ctx context.Context) (found []string, err error) {
	locks, err := filepath.Glob("infra/tools/*/package-lock.json")
	if err != nil {
		return nil, err
	}
	for _, lock := range append(locks, "infra/tools/package-lock.json") {
		ask, cancel := context.WithTimeout(ctx, time.Minute)
		cmd := exec.CommandContext(ask, "npm", "audit", "--package-lock-only", "--json")
		cmd.Dir = filepath.Dir(lock)
		var out bytes.Buffer
		cmd.Stdout = &out
		_ = cmd.Run() // it fails if it finds something
		cancel()
		some, err := audited(out.Bytes())
		if err != nil {
			return found, fmt.Errorf("%s: %w", lock, err)
		}
		for _, one := range some {
			found = append(found, lock+": "+one)
		}
	}
	return found, nil
}

// audited returns the packages of an answer of npm audit that have high or critical faults.
func audited(answer []byte) (found []string, err error) {
	var audit struct {
		Message         string
		Metadata        *struct{}
		Vulnerabilities map[string]struct{ Severity string }
	}
	if err := json.Unmarshal(answer, &audit); err != nil {
		return nil, fmt.Errorf("npm audit answers no JSON: %w", err)
	}
	if audit.Metadata == nil {
		return nil, fmt.Errorf("npm audit: %s", audit.Message)
	}
	for name, v := range audit.Vulnerabilities {
		if v.Severity == "high" || v.Severity == "critical" {
			found = append(found, name+" has a fault that is "+v.Severity)
		}
	}
	slices.Sort(found)
	return found, nil
}
