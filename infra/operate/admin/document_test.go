package main

import (
	"bytes"
	"os"
	"regexp"
	"strings"
	"testing"
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
