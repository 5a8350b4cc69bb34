// Command sbom writes the software bill of materials of the functions (CycloneDX 1.6), and the
// list of the licences of the linked parts. It fails if the project does not accept a licence.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
)

func main() {
	folder := flag.String("o", filepath.Join("build", "sbom"), "folder that receives the files")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, ".", *folder); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// run writes the bill of the checkout at root into the folder.
func run(ctx context.Context, root, folder string) error {
	parts, err := parts(ctx, root)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return err
	}
	bill, err := bill(parts)
	if err != nil {
		return err
	}
	for name, data := range map[string][]byte{"functions.cdx.json": bill, "licences.tsv": list(parts)} {
		if err := os.WriteFile(filepath.Join(folder, name), data, 0o644); err != nil {
			return err
		}
	}
	return accepted(parts)
}
