package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/credentials"

	"github.com/content-automation/api/pkg/adapter/provider/bedrock"
	"github.com/content-automation/api/pkg/generate/catalog"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := evaluate(ctx, os.Args[1:])
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// evaluate writes the report. With a writer, it also asks real models, by the AWS credentials of the environment.
func evaluate(ctx context.Context, args []string) error {
	flags := flag.NewFlagSet("evaluate", flag.ContinueOnError)
	report := flags.String("report", "infra/verify/evaluate/testdata/report.md", "file of the report")
	writer := flags.String("writer", "", "model of the catalog that writes; empty: no real models")
	judge := flags.String("judge", "", "model of the catalog that compares; empty: the writer")
	guards := flags.String("guards", "infra/verify/evaluate/testdata", "folder of the tables of the unseen texts")
	texts := flags.String("texts", ".local/evaluate/texts.json", "file for the texts of the writer")
	endpoint := flags.String("endpoint", "", "address of a fake of Bedrock for a dry run; empty: the real one")
	record := flags.String("recorded", "infra/verify/evaluate/testdata/recorded", "folder of the answers of real models: "+
		"written with a writer, and read without one")
	before := flags.String("before", "", "file with the texts of an earlier version, to be compared")
	shown := flags.Bool("page", false, "print a page of prompts and answers of a fake instead")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if *shown {
		text, err := page(ctx)
		fmt.Print(text)
		return err
	}
	all, err := readAnswers(seen)
	if err != nil {
		return err
	}
	verdicts := verdictsOf(all)
	for _, directory := range tables {
		if err := writeTable(filepath.Join(*guards, directory+".md"), directory); err != nil {
			return err
		}
	}
	said, err := readReplies()
	if err != nil {
		return err
	}
	text := offline(verdicts) + architect(said)
	quality, err := measured(ctx, all, *writer, *judge, *before, *endpoint, *record, *texts)
	if err != nil {
		return err
	}
	text += quality
	if err := os.WriteFile(*report, []byte(text), 0o644); err != nil {
		return fmt.Errorf("evaluate: %w", err)
	}
	fmt.Print(text)
	return nil
}

// measured returns the part about real models: of a new run with the writer, which is recorded, or else of the recorded
// one, or else that nothing was recorded.
func measured(ctx context.Context, all []answer, writer, judge, before, endpoint, record, texts string) (string,
	error) {
	others, err := readAnswers(unseen)
	if err != nil {
		return "", err
	}
	all = few(slices.Concat(all, others))
	if writer == "" {
		r, err := replay(record)
		if err != nil {
			return "", err
		}
		if r == nil {
			return unmeasured, nil
		}
		if err := r.write(ctx, all); err != nil {
			return "", err
		}
		return r.quality(), nil
	}
	r, err := newRun(ctx, writer, judge, before, endpoint)
	if err != nil {
		return "", err
	}
	if err := r.record(record); err != nil {
		return "", err
	}
	if err := errors.Join(r.write(ctx, all), r.save(texts)); err != nil {
		return "", err
	}
	return r.quality(), nil
}

// writeTable writes the table of the answers of a directory into a file, between its lines.
func writeTable(file, directory string) error {
	table, err := tableOf(directory)
	if err != nil {
		return err
	}
	raw, err := os.ReadFile(file)
	if err != nil {
		return fmt.Errorf("evaluate: %w", err)
	}
	head, rest, begun := strings.Cut(string(raw), tableBegins)
	_, tail, ended := strings.Cut(rest, tableEnds)
	if !begun || !ended {
		return fmt.Errorf("evaluate: %s has no place for the table", file)
	}
	if err := os.WriteFile(file, []byte(head+tableBegins+table+tableEnds+tail), 0o644); err != nil {
		return fmt.Errorf("evaluate: %w", err)
	}
	return nil
}

// newRun prepares a run with models of Bedrock, or with those of a fake at an endpoint.
func newRun(ctx context.Context, writer, judge, before, endpoint string) (*run, error) {
	r, err := runOf(writer, judge, before)
	if err != nil {
		return nil, err
	}
	r.fake = endpoint != ""
	cfg, err := config.LoadDefaultConfig(ctx)
	if r.fake {
		cfg.Credentials = credentials.NewStaticCredentialsProvider("dry", "run", "")
		cfg.Region = cmp.Or(cfg.Region, "eu-central-1")
	}
	if err != nil {
		return nil, fmt.Errorf("evaluate: %w", err)
	}
	r.provider = bedrock.New(bedrock.Config{AWS: cfg, Endpoint: endpoint})
	return r, nil
}

// runOf returns a run of a writer and a judge, or the writer if none is named, without their provider.
func runOf(writer, judge, before string) (*run, error) {
	r := &run{at: time.Now().UTC()}
	if judge == "" {
		judge = writer
	}
	for id, m := range map[string]*catalog.Model{writer: &r.writer, judge: &r.judge} {
		found, ok := catalog.Find(id)
		if !ok || found.Provider != bedrock.Name {
			return nil, fmt.Errorf("evaluate: %q is not a text model of %s in the catalog", id, bedrock.Name)
		}
		*m = found
	}
	if writer == judge {
		r.judge, _ = catalog.Find(judge)
		r.writer = r.judge
	}
	if before != "" {
		raw, err := os.ReadFile(before)
		if err != nil {
			return nil, fmt.Errorf("evaluate: %w", err)
		}
		var all []written
		if err := json.Unmarshal(raw, &all); err != nil {
			return nil, fmt.Errorf("evaluate: %s: %w", before, err)
		}
		r.before = map[string]written{}
		for _, t := range all {
			r.before[t.Brief] = t
		}
	}
	return r, nil
}

// save keeps the texts, so that a later version can be compared with them.
func (r *run) save(file string) error {
	raw, err := json.MarshalIndent(r.texts, "", "\t")
	if err == nil {
		err = os.MkdirAll(filepath.Dir(file), 0o755)
	}
	if err == nil {
		err = os.WriteFile(file, raw, 0o644)
	}
	return err
}
