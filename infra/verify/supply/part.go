package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

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
