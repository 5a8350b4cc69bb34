package main

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	cdx "github.com/CycloneDX/cyclonedx-go"
	"github.com/google/licensecheck"

	"github.com/content-automation/api/pkg/cloud/topology"
)

// part is a part of functions: a module, the standard library, or the script of the explorer.
type part struct {
	name, version string
	purl          string // Package URL
	// sum is the checksum of go.sum ("h1:…"), or empty if there is none.
	sum      string
	licences []string // SPDX
	// functions are the functions with this part.
	functions []string
	// separate reports that the part is a separate file, which functions call or read.
	separate bool
}

// pkg is the entry of a package in the output of `go list`.
type pkg struct {
	ImportPath string
	Standard   bool
	Deps       []string // import paths, indirect ones too
	Module     *struct {
		Path, Version, Dir, Sum string
		Main                    bool
	}
}

// parts returns the parts of the functions of a checkout, sorted by Package URL. It leaves out
// packages that only tests, the stacks or the operator's command need.
func parts(ctx context.Context, root string) ([]part, error) {
	packages, err := packages(ctx, root)
	if err != nil {
		return nil, err
	}
	std, goRoot, err := standard(ctx, root)
	if err != nil {
		return nil, err
	}
	found := map[string]*part{}
	for _, f := range topology.Functions {
		main, ok := packages["github.com/content-automation/api/functions/"+f.Program()]
		if !ok {
			return nil, fmt.Errorf("there is no program %s", f.Program())
		}
		for _, path := range main.Deps {
			next, dir := std, goRoot
			if p := packages[path]; !p.Standard {
				m := p.Module
				if m.Main {
					continue
				}
				next = part{name: m.Path, version: m.Version, purl: "pkg:golang/" + m.Path +
					"@" + m.Version, sum: m.Sum}
				dir = m.Dir
			}
			if err := add(found, next, dir, f.Name); err != nil {
				return nil, err
			}
		}
	}
	script, err := explorer(root)
	if err != nil {
		return nil, err
	}
	found[script.purl] = &script
	files, err := layer(root)
	if err != nil {
		return nil, err
	}
	for _, file := range files {
		found[file.purl] = &file
	}
	all := make([]part, 0, len(found))
	for _, purl := range slices.Sorted(maps.Keys(found)) {
		all = append(all, *found[purl])
	}
	return all, nil
}

// add records that a function has a part whose licence is in the folder.
func add(found map[string]*part, p part, dir, function string) error {
	known, ok := found[p.purl]
	if !ok {
		licences, err := licencesIn(dir)
		if err != nil {
			return fmt.Errorf("%s: %w", p.purl, err)
		}
		p.licences = slices.DeleteFunc(licences,
			func(l string) bool { return slices.Contains(documentation[p.name], l) })
		known = &p
		found[p.purl] = known
	}
	if !slices.Contains(known.functions, function) {
		known.functions = append(known.functions, function)
	}
	return nil
}

// packages returns all packages that are linked into functions, by their import paths.
func packages(ctx context.Context, root string) (map[string]pkg, error) {
	cmd := exec.CommandContext(ctx, "go", "list", "-deps", "-tags", "lambda.norpc",
		"-json=ImportPath,Standard,Deps,Module", "./functions/...")
	cmd.Dir = root
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOOS=linux", "GOARCH=arm64")
	out, err := output(cmd)
	if err != nil {
		return nil, err
	}
	all := map[string]pkg{}
	for d := json.NewDecoder(bytes.NewReader(out)); ; {
		var p pkg
		switch err := d.Decode(&p); {
		case errors.Is(err, io.EOF):
			return all, nil
		case err != nil:
			return nil, fmt.Errorf("read the output of go list: %w", err)
		}
		all[p.ImportPath] = p
	}
}

// standard returns the standard library, and the folder of its licence.
func standard(ctx context.Context, root string) (p part, dir string, err error) {
	cmd := exec.CommandContext(ctx, "go", "env", "GOVERSION", "GOROOT")
	cmd.Dir = root
	out, err := output(cmd)
	if err != nil {
		return part{}, "", err
	}
	version, dir, _ := strings.Cut(strings.TrimSpace(string(out)), "\n")
	version = strings.TrimPrefix(version, "go")
	return part{name: "std", version: version, purl: "pkg:golang/std@" + version}, dir, nil
}

func output(cmd *exec.Cmd) ([]byte, error) {
	var messages bytes.Buffer
	cmd.Stderr = &messages
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("%s: %w: %s", strings.Join(cmd.Args, " "), err, messages.String())
	}
	return out, nil
}

// explorer returns the script that the function docs embeds. Its folder has no licence file; the
// first line of the script names the licence, MIT.
func explorer(root string) (part, error) {
	scripts, err := filepath.Glob(filepath.Join(root, "pkg", "service", "docs", "assets", "scalar-*.js.gz"))
	if err != nil {
		return part{}, err
	}
	if len(scripts) != 1 {
		return part{}, fmt.Errorf("pkg/service/docs/assets holds %d scripts of the explorer: run `make explorer-assets`", len(scripts))
	}
	version := strings.TrimSuffix(strings.TrimPrefix(filepath.Base(scripts[0]), "scalar-"), ".js.gz")
	const name = "@scalar/api-reference"
	return part{name: name, version: version, purl: "pkg:npm/%40scalar/api-reference@" + version,
		licences: []string{"MIT"}, functions: []string{"docs"}}, nil
}

// layer returns the contents of the layer of the function compose, from the pins in the script
// that makes it. NOTICE has the licences.
func layer(root string) ([]part, error) {
	script, err := os.ReadFile(filepath.Join(root, "infra", "tools", "media-tools.mjs"))
	if err != nil {
		return nil, err
	}
	program := regexp.MustCompile(`const ffmpegVersion = '([\d.]+)'`).FindSubmatch(script)
	library := regexp.MustCompile(`const c2paVersion = '([\d.]+)'`).FindSubmatch(script)
	fonts := regexp.MustCompile(`\['(noto-[a-z-]+)', '([\d.]+)'`).FindAllSubmatch(script, -1)
	if program == nil || library == nil || len(fonts) == 0 {
		return nil, fmt.Errorf("media-tools.mjs names no version of ffmpeg or of the library of C2PA, or no fonts")
	}
	made := func(kind, name, version, licence string) part {
		purl := "pkg:" + kind + "/" + strings.ReplaceAll(name, "@", "%40") + "@" + version
		return part{name: name, version: version, purl: purl, licences: []string{licence},
			functions: []string{"compose"}, separate: true}
	}
	all := []part{made("pypi", "imageio-ffmpeg", string(program[1]), "GPL-3.0-or-later"),
		made("pypi", "c2pa-python", string(library[1]), "MIT")}
	for _, f := range fonts {
		all = append(all, made("npm", "@expo-google-fonts/"+string(f[1]), string(f[2]), "OFL-1.1"))
	}
	return all, nil
}

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

// bill renders the parts as CycloneDX in JSON. It leaves out the time and the serial number, so
// that the same sources have the same bill.
func bill(parts []part) ([]byte, error) {
	components := make([]cdx.Component, 0, len(parts))
	for _, p := range parts {
		c := cdx.Component{
			BOMRef: p.purl, Type: cdx.ComponentTypeLibrary, Name: p.name, Version: p.version, PackageURL: p.purl,
			Licenses: &cdx.Licenses{}, Properties: &[]cdx.Property{},
		}
		for _, licence := range p.licences {
			*c.Licenses = append(*c.Licenses, cdx.LicenseChoice{License: &cdx.License{ID: licence}})
		}
		for _, function := range p.functions {
			*c.Properties = append(*c.Properties, cdx.Property{Name: "content-automation:function", Value: function})
		}
		if p.sum != "" {
			sum, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(p.sum, "h1:"))
			if err != nil {
				return nil, fmt.Errorf("the checksum of %s: %w", p.name, err)
			}
			// The hash of the module's files, as golang.org/x/mod/sumdb/dirhash computes it.
			c.Hashes = &[]cdx.Hash{{Algorithm: cdx.HashAlgoSHA256, Value: hex.EncodeToString(sum)}}
		}
		components = append(components, c)
	}
	b := cdx.NewBOM()
	b.Metadata = &cdx.Metadata{Component: &cdx.Component{
		BOMRef: "functions", Type: cdx.ComponentTypeApplication, Name: "github.com/content-automation/api",
		Licenses: &cdx.Licenses{{License: &cdx.License{ID: "MIT"}}},
	}}
	b.Components = &components
	var out bytes.Buffer
	err := cdx.NewBOMEncoder(&out, cdx.BOMFileFormatJSON).SetPretty(true).Encode(b)
	return out.Bytes(), err
}
