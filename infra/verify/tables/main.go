// Command tables prints a table that follows from the code: of what each operation opens (operations), of the
// operations that open each thing (summary, which docs/security.md has), or of what an import does with each member
// (members). With learning it writes the tables of simulated experiments, and with examples the examples of the OpenAPI
// document.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
)

func main() {
	err := errors.New("tables: name one of operations, summary, members, learning and examples")
	if len(os.Args) > 1 {
		switch os.Args[1] {
		case "operations":
			_, err = os.Stdout.Write(operations())
		case "summary":
			_, err = os.Stdout.Write(summary())
		case "members":
			err = nil
			members(os.Stdout)
		case "learning":
			err = learning(os.Args[2:])
		case "examples":
			err = examples(context.Background())
		}
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
