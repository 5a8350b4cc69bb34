package main

import (
	"strings"
	"testing"
	"time"

	contentautomation "github.com/content-automation/api/clients/go"
)

func TestOptions(t *testing.T) {
	env := func(vars map[string]string) func(string) string {
		return func(name string) string { return vars[name] }
	}
	var notes strings.Builder
	o, err := parse([]string{"--port", "9000", "--seed=18446744073709551615", "--now", "2026-05-01T12:00:00+02:00"},
		env(map[string]string{"SANDBOX_PORT": "1", "SANDBOX_LISTEN": "0.0.0.0", "SANDBOX_JSON": "true"}), &notes)
	if err != nil || o.port != 9000 || o.listen != "0.0.0.0" || *o.seed != 1<<64-1 || !o.json || o.ahead != 2*time.Minute ||
		!o.now.Equal(time.Date(2026, 5, 1, 10, 0, 0, 0, time.UTC)) {
		t.Errorf("got %+v, %v", o, err)
	}
	if o, err = parse(nil, env(nil), &notes); err != nil || o.port != defaultPort || o.listen != "127.0.0.1" ||
		o.seed != nil || o.now != nil {
		t.Errorf("without flags: %+v, %v", o, err)
	}
}

func TestWrongCommandLines(t *testing.T) {
	for line, want := range map[string]string{
		"--port 65536":            "--port is a number from 0 to 65535, not 65536",
		"--port x":                `invalid value "x" for flag -port`,
		"--seed -1":               "it must be a number from 0",
		"--now today":             "it must be a time such as 2026",
		"--ahead -1s":             "--ahead is a time from 0s, not -1s",
		"--url sandbox":           `--url is an address such as http://sandbox:8080, not "sandbox"`,
		"--url ftp://sandbox":     `not "ftp://sandbox"`,
		"--ffmpeg ffmpeg":         "--ffmpeg and --fonts need each other",
		"--import gone.jsonl":     "gone.jsonl",
		"--play 744h":             "--play is a time from 0s, and needs --import and --now",
		"--webhooks http://a/":    "--webhooks needs --import",
		"--import a --webhooks b": "--webhooks is an address such as",
		"serve":                   `unknown argument "serve"`,
		"--data x":                "flag provided but not defined: -data",
		"--listen 999.0.0.1":      "lookup 999.0.0.1",
		"--ffmpeg x --fonts gone": "gone",
		"SANDBOX_SEED=x":          `invalid value "x" for the variable SANDBOX_SEED: it must be a number`,
	} {
		variables := map[string]string{}
		args := strings.Fields(line)
		if name, value, ok := strings.Cut(line, "="); ok {
			args, variables[name] = nil, value
		}
		var out, notes strings.Builder
		code := run(t.Context(), args, func(name string) string { return variables[name] }, &out, &notes)
		if code == 0 || out.Len() > 0 || !strings.HasPrefix(notes.String(), "sandbox: ") ||
			!strings.Contains(notes.String(), want) {
			t.Errorf("%s: %d, %q", line, code, notes.String())
		}
	}
}

func TestTheVersionIsPrinted(t *testing.T) {
	var out, notes strings.Builder
	code := run(t.Context(), []string{"--version"}, func(string) string { return "" }, &out, &notes)
	if code != 0 || !strings.HasPrefix(out.String(), "sandbox "+contentautomation.APIVersion+", revision ") {
		t.Errorf("%d %q %q", code, out.String(), notes.String())
	}
	if _, err := parse(nil, func(name string) string {
		return map[string]string{"SANDBOX_VERSION": "1.0.0"}[name] // as of the image that a test runs
	}, &notes); err != nil {
		t.Error(err)
	}
}
