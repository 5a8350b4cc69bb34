// Command generate writes the clients from the OpenAPI document. Run it with `make clients` in the root of the
// repository. With -check it writes nothing and fails if a file is stale.
package main

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"

	"github.com/content-automation/api/clients/internal/form"
)

func main() {
	check := flag.Bool("check", false, "fail if a file is stale, and write nothing")
	release := flag.Bool("release", false, "keep the document as that of the last release")
	root := flag.String("root", ".", "the `folder` of the repository")
	flag.Parse()
	err := run(*root, *check)
	if err == nil && *release {
		err = keep(*root)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "generate:", err)
		os.Exit(1)
	}
}

func run(root string, check bool) error {
	document, err := os.ReadFile(filepath.Join(root, "clients", "openapi.json"))
	if err != nil {
		return err
	}
	all, err := files(root, document)
	if err != nil {
		return err
	}
	for name, content := range all {
		place := filepath.Join(root, "clients", name)
		old, err := os.ReadFile(place)
		if err == nil && bytes.Equal(old, content) {
			continue
		}
		if check {
			return fmt.Errorf("clients/%s is stale: run `make clients` and commit it", name)
		}
		if err := os.MkdirAll(filepath.Dir(place), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(place, content, 0o644); err != nil {
			return err
		}
	}
	return nil
}

// keep writes the document as that of the last release, in one line.
func keep(root string) error {
	document, err := os.ReadFile(filepath.Join(root, "clients", "openapi.json"))
	if err != nil {
		return err
	}
	var compact bytes.Buffer
	if err := json.Compact(&compact, document); err != nil {
		return err
	}
	compact.WriteByte('\n')
	return os.WriteFile(filepath.Join(root, "clients", "released", "openapi.json"), compact.Bytes(), 0o644)
}

// writeLicences gives each package the licence of the repository.
func writeLicences(root string, _ *form.Form, all map[string][]byte) error {
	text, err := os.ReadFile(filepath.Join(root, "LICENSE"))
	for _, client := range []string{"go", "typescript", "python", "n8n"} {
		all[client+"/LICENSE"] = text
	}
	return err
}

// files returns the content of every generated file by its name below clients.
func files(root string, document []byte) (map[string][]byte, error) {
	f, err := form.Read(document)
	if err != nil {
		return nil, err
	}
	all := map[string][]byte{}
	for _, write := range []func(string, *form.Form, map[string][]byte) error{
		writeGo, writeTypeScript, writePython, writePostman, writeCLI, writeLicences, writeMCP, writeAgents, writeN8n,
	} {
		if err := write(root, f, all); err != nil {
			return nil, err
		}
	}
	return all, nil
}
