package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/google/licensecheck"
)

// accepts are the licences that parts linked into functions may have. All of them permit use
// in a service and in a binary whose source stays closed.
var accepts = []string{"Apache-2.0", "BSD-2-Clause", "BSD-3-Clause", "ISC", "MIT", "MIT-0", "Unlicense"}

// acceptsSeparate are further licences for programs and fonts in separate files. They do not extend to
// the programs that call or read these files.
var acceptsSeparate = []string{"GPL-3.0-or-later", "OFL-1.1"}

// documentation has the licences of the documentation alone, by module. No function contains it.
var documentation = map[string][]string{"github.com/modelcontextprotocol/go-sdk": {"CC-BY-4.0"}}

// leastCoverage is the part of a licence's file that must be the text of known licences, in
// percent. The rest are names and years.
const leastCoverage = 75

var errNoLicence = errors.New("no licence was found")

// licencesIn returns the licences (SPDX) in the licence files of a folder.
func licencesIn(dir string) ([]string, error) {
	var all []string
	files, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	for _, file := range files {
		name := strings.ToUpper(file.Name())
		if file.IsDir() || !strings.HasPrefix(name, "LICEN") && !strings.HasPrefix(name, "COPYING") {
			continue
		}
		text, err := os.ReadFile(filepath.Join(dir, file.Name()))
		if err != nil {
			return nil, err
		}
		found := licensecheck.Scan(text)
		if found.Percent < leastCoverage {
			continue
		}
		for _, match := range found.Match {
			if !slices.Contains(all, match.ID) {
				all = append(all, match.ID)
			}
		}
	}
	if len(all) == 0 {
		return nil, errNoLicence
	}
	return all, nil
}

// accepted returns an error that names the parts with licences that the project does not
// accept.
func accepted(parts []part) error {
	var refused []error
	for _, p := range parts {
		for _, licence := range p.licences {
			if !slices.Contains(accepts, licence) && !(p.separate && slices.Contains(acceptsSeparate, licence)) {
				refused = append(refused, fmt.Errorf("%s %s has the licence %s, which is none of %s", p.name, p.version,
					licence, strings.Join(accepts, ", ")))
			}
		}
	}
	return errors.Join(refused...)
}

// list renders the parts with their licences, one on each line.
func list(parts []part) []byte {
	var b bytes.Buffer
	for _, p := range parts {
		fmt.Fprintf(&b, "%s\t%s\t%s\n", p.name, p.version, strings.Join(p.licences, " "))
	}
	return b.Bytes()
}
