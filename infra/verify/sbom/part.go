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

// part is something that functions are made of: a module, the standard library, or the
// script of the explorer.
type part struct {
	name, version string
	purl          string // Package URL
	// sum is the checksum of go.sum ("h1:…"); empty: none.
	sum      string
	licences []string // SPDX
	// functions are those that contain it.
	functions []string
	// beside reports that they call or read it as a file of its own, and do not link it.
	beside bool
}

// pkg is what `go list` returns of a package.
type pkg struct {
	ImportPath string
	Standard   bool
	Deps       []string // import paths, indirect ones too
	Module     *struct {
		Path, Version, Dir, Sum string
		Main                    bool
	}
}

// parts returns what the functions of a checkout are made of, sorted by Package URL. Only
// what is linked counts: not what tests, the stacks or the operator's command need.
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
		main, ok := packages["github.com/content-automation/api/functions/"+f.Name]
		if !ok {
			return nil, fmt.Errorf("there is no function %s", f.Name)
		}
		for _, path := range main.Deps {
			next, dir := std, goRoot
			if p := packages[path]; !p.Standard {
				m := p.Module
				if m.Main {
					continue
				}
				next = part{name: m.Path, version: m.Version, purl: "pkg:golang/" + m.Path + "@" + m.Version, sum: m.Sum}
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

// add notes that a function contains a part whose licence lies in the folder.
func add(found map[string]*part, p part, dir, function string) error {
	known, ok := found[p.purl]
	if !ok {
		licences, err := licencesIn(dir)
		if err != nil {
			return fmt.Errorf("%s: %w", p.purl, err)
		}
		p.licences, known = licences, &p
		found[p.purl] = known
	}
	if !slices.Contains(known.functions, function) {
		known.functions = append(known.functions, function)
	}
	return nil
}

// packages returns all packages that are linked into functions, by their import paths.
func packages(ctx context.Context, root string) (map[string]pkg, error) {
	cmd := exec.CommandContext(ctx, "go", "list", "-deps", "-tags", "lambda.norpc", "-json=ImportPath,Standard,Deps,Module", "./functions/...")
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

// explorer returns the script that the function docs embeds. Its folder holds the script
// alone, without the licence, which its first line names: MIT.
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
	return part{name: name, version: version, purl: "pkg:npm/%40scalar/api-reference@" + version, licences: []string{"MIT"}, functions: []string{"docs"}}, nil
}
