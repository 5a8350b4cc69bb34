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

// accepts are the licences that what is linked into functions may have: all permit use
// in a service and in a binary whose source stays closed.
var accepts = []string{"Apache-2.0", "BSD-2-Clause", "BSD-3-Clause", "ISC", "MIT", "MIT-0", "Unlicense"}

// besides are those that a program or a font in a file of its own may have, too: they
// do not extend to what calls or reads it.
var besides = []string{"GPL-3.0-or-later", "OFL-1.1"}

// leastCoverage is how much of a licence's file must be the text of known licences, in
// percent. The rest are names and years.
const leastCoverage = 75

var errNoLicence = errors.New("no licence was found")

// licencesIn returns the licences (SPDX) in the files of a folder that are named for
// them.
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

// accepted returns an error that names the parts with other licences than those that
// the project accepts.
func accepted(parts []part) error {
	var refused []error
	for _, p := range parts {
		for _, licence := range p.licences {
			if !slices.Contains(accepts, licence) && !(p.beside && slices.Contains(besides, licence)) {
				refused = append(refused, fmt.Errorf("%s %s has the licence %s, which is none of %s", p.name, p.version, licence, strings.Join(accepts, ", ")))
			}
		}
	}
	return errors.Join(refused...)
}

// list renders the parts with their licences, one a line.
func list(parts []part) []byte {
	var b bytes.Buffer
	for _, p := range parts {
		fmt.Fprintf(&b, "%s\t%s\t%s\n", p.name, p.version, strings.Join(p.licences, " "))
	}
	return b.Bytes()
}
