// Command supply looks at what the functions and tools are made of. With bill it writes the software bill of materials
// of the functions (CycloneDX 1.6) and the list of the licences of the linked parts, and fails if the project does not
// accept a licence.
//
// With vulnerabilities it looks for known vulnerabilities: of what the functions call, in the database of Go; of the
// packages of the pinned tools, at their registry; and of ffmpeg, libc2pa and other programs, in
// infra/tools/faults.tsv, which people keep. It fails where it cannot look, unless OFFLINE=yes says so.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := errors.New("supply: name bill or vulnerabilities")
	switch strings.Join(os.Args[1:], " ") {
	case "bill":
		err = writeBill(ctx, ".", filepath.Join("build", "sbom"))
	case "vulnerabilities":
		err = vulnerabilities(ctx)
	}
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
