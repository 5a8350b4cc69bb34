package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/content-automation/api/infra/app/customer"
)

// script is a block of commands of a document.
var (
	script    = regexp.MustCompile("(?s)```sh\n(.*?)```")
	heredoc   = regexp.MustCompile(`(?ms)(<<'PY'.*?\n).*?^PY$`)
	variable  = regexp.MustCompile(`(?:^|[\s;(])([A-Z][A-Z0-9_]*)=|\bread -rs ([A-Z_]+)|\$\{?([A-Z][A-Z0-9_]*)`)
	shellCall = regexp.MustCompile(`(?:^|[;|(]\s*)(admin|output|member)\b([^|;)]*)`)
	defined   = regexp.MustCompile(`(?m)^(admin|output|member)\(\)`)
	madeBy    = regexp.MustCompile(`(?:^|\s)make ([a-z-]+(?: [a-z-]+)*)`)
	sourceAt  = regexp.MustCompile(`\b(?:infra|functions|pkg)/[a-z/-]+(?:\.go|\.json)?`)
	apiPath   = regexp.MustCompile(`/v1/[a-z/-]+`)
)

// read returns a file of the checkout.
func read(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile("../../../" + name)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// TestTheFirstDeploymentCanBeRunAsWritten holds the commands of the page against what is here: targets of make,
// commands of the operator, paths of the API and files. A variable or a function is set before its use.
func TestTheFirstDeploymentCanBeRunAsWritten(t *testing.T) {
	makefile, operations := read(t, "Makefile"), read(t, "testdata/operations.tsv")
	set, commands := map[string]bool{}, 0
	for _, block := range script.FindAllStringSubmatch(read(t, "docs/first-deployment.md"), -1) {
		text := strings.ReplaceAll(heredoc.ReplaceAllString(block[1], "$1"), "\\\n", " ")
		for line := range strings.Lines(text) {
			line = strings.TrimSpace(line)
			for _, m := range defined.FindAllStringSubmatch(line, -1) {
				set[m[1]] = true
			}
			for _, m := range variable.FindAllStringSubmatch(line, -1) {
				set[m[1]], set[m[2]] = true, true
				if m[3] != "" && !set[m[3]] {
					t.Errorf("%s is used before it is set: %s", m[3], line)
				}
			}
			for _, m := range madeBy.FindAllStringSubmatch(line, -1) {
				for target := range strings.FieldsSeq(m[1]) {
					rule := regexp.MustCompile(`(?m)^([a-z-]+ )*` + target + `( [a-z-]+)*:`)
					if commands++; !rule.MatchString(makefile) {
						t.Errorf("there is no target %s: %s", target, line)
					}
				}
			}
			for _, m := range shellCall.FindAllStringSubmatch(line, -1) {
				if strings.HasPrefix(m[2], "(") {
					continue
				}
				if commands++; !set[m[1]] {
					t.Errorf("%s is used before it is set: %s", m[1], line)
				}
				if m[1] == "admin" {
					checkOperator(t, strings.Fields(strings.ReplaceAll(m[2], `"`, "")))
				}
			}
			for _, path := range apiPath.FindAllString(line, -1) {
				if !strings.Contains(operations, "\t"+path+"\t") {
					t.Errorf("the API has no %s: %s", path, line)
				}
			}
			for _, name := range sourceAt.FindAllString(line, -1) {
				if _, err := os.Stat("../../../" + name); err != nil {
					t.Error(err)
				}
			}
		}
	}
	if commands < 25 {
		t.Errorf("the page has %d commands", commands)
	}
}

// settingsScript is a program of the page that changes cdk.json.
var settingsScript = regexp.MustCompile(`(?ms)^python3 - .*?^PY$`)

// TestTheFirstDeploymentSetsWhatIsTaken runs the programs of the page on the settings. After each of them the customer
// can be deployed, and the fleet once the page deploys all. Its calls go to a name that is open then: with a domain the
// name of the gateway is closed, and with client certificates only the public one takes calls without one.
func TestTheFirstDeploymentSetsWhatIsTaken(t *testing.T) {
	page, file := read(t, "docs/first-deployment.md"), filepath.Join(t.TempDir(), "cdk.json")
	if err := os.WriteFile(file, []byte(read(t, "cdk.json")), 0o600); err != nil {
		t.Fatal(err)
	}
	places := settingsScript.FindAllStringIndex(page, -1)
	for i, at := range places {
		run := exec.Command("sh", "-c", page[at[0]:at[1]]+"\n")
		run.Dir = filepath.Dir(file)
		run.Env = append(os.Environ(), "ACCOUNT_ID=111122223333", "ME=ada@example.com", "SENDER=no-reply@example.com",
			"ZONE=Z0123456789ABCDEFGHIJ", "API_NAME=api.example.com", "PUBLIC_NAME=public.example.com",
			"BUCKET=first")
		if out, err := run.CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		var settings struct{ Context map[string]any }
		text, err := os.ReadFile(file)
		if err := errors.Join(err, json.Unmarshal(text, &settings)); err != nil {
			t.Fatal(err)
		}
		s, err := customer.Read(func(key string) any {
			if key == "customer" {
				return "first"
			}
			return settings.Context[key]
		})
		if err != nil {
			t.Errorf("after program %d: %v", i+1, err)
		}
		end := len(page)
		if i+1 < len(places) {
			end = places[i+1][0]
		}
		following := page[at[1]:end]
		if strings.Contains(following, "make deploy-all") {
			if _, err := customer.ReadFleet(func(key string) any { return settings.Context[key] }); err != nil {
				t.Errorf("the page deploys all: %v", err)
			}
		}
		domain := s.Domains[s.Region]
		own, _, _ := strings.Cut(following, "BASE_URL=https")
		if domain.Name != "" && strings.Contains(own, "$BASE_URL") {
			t.Errorf("program %d has given the API a name, and calls go to the closed one", i+1)
		}
	}
	if len(places) < 4 {
		t.Errorf("the page has %d programs", len(places))
	}
}

// checkOperator holds the arguments of the operator's command against its subcommands and flags.
func checkOperator(t *testing.T, args []string) {
	t.Helper()
	cmd, rest, err := root(&bytes.Buffer{}, nil, nil, nil).Find(args)
	if err != nil || cmd.HasSubCommands() {
		t.Errorf("there is no command admin %s: %v", strings.Join(args, " "), err)
		return
	}
	if err := cmd.ParseFlags(rest); err != nil {
		t.Errorf("admin %s: %v", strings.Join(args, " "), err)
	} else if err := cmd.ValidateArgs(cmd.Flags().Args()); err != nil {
		t.Errorf("admin %s: %v", strings.Join(args, " "), err)
	}
}
