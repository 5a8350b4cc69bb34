package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/service/cloudformation"
	"github.com/aws/aws-sdk-go-v2/service/cloudformation/types"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	dynamodbtypes "github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	s3types "github.com/aws/aws-sdk-go-v2/service/s3/types"
	"github.com/aws/aws-sdk-go-v2/service/sfn"
	sfntypes "github.com/aws/aws-sdk-go-v2/service/sfn/types"

	"github.com/content-automation/api/infra/app/customer"
	"github.com/content-automation/api/infra/app/orchestrator"
	"github.com/content-automation/api/infra/operate/fleet"
	"github.com/content-automation/api/infra/operate/release"
)

// orchestrated implements fleet.Orchestrator with the stacks of the operators' account.
type orchestrated struct {
	orchestrator.Operators
	cfg      aws.Config
	cells    *cells
	parallel int
	publish  *fleet.Publisher
	out      io.Writer
	// finish does what follows the deployment of a cell.
	finish func(ctx context.Context, of customer.Settings) error
}

var _ fleet.Orchestrator = (*orchestrated)(nil)

func newOrchestrator(ctx context.Context, c *cells, known map[string]any, parallel int, out io.Writer) (*orchestrated,
	error) {
	operators, err := orchestrator.Read(func(key string) any { return known[key] })
	if err != nil {
		return nil, err
	}
	cfg, err := config.LoadDefaultConfig(ctx)
	if err != nil {
		return nil, err
	}
	o := &orchestrated{Operators: operators, cfg: cfg, cells: c, parallel: parallel, out: out}
	o.publish = &fleet.Publisher{Store: buckets{cfg}, Exists: o.exists}
	o.finish = func(ctx context.Context, of customer.Settings) error {
		do := order{Settings: of}
		var err error
		if do.credentials, err = c.sessions.of(ctx, of); err != nil {
			return err
		}
		err = errors.Join(shareKey(ctx, do), offerProviders(ctx, do))
		pruneVersions(ctx, do, io.Discard)
		return errors.Join(err, protectAll(ctx, do))
	}
	return o, nil
}

// in returns the configuration for a region.
func in(cfg aws.Config, region string) aws.Config {
	cfg.Region = region
	return cfg
}

// lookEvery is the time between two questions about an execution.
const lookEvery = 30 * time.Second

// regions returns the cells of a wave by their region.
func regions(all []customer.Settings) map[string][]customer.Settings {
	by := map[string][]customer.Settings{}
	for _, c := range all {
		by[c.Region] = append(by[c.Region], c)
	}
	return by
}

// Await implements fleet.Orchestrator by the executions in progress.
func (o *orchestrated) Await(ctx context.Context, w customer.Wave) error {
	for region := range regions(w.Cells) {
		client := sfn.NewFromConfig(in(o.cfg, region))
		for {
			running, err := client.ListExecutions(ctx, &sfn.ListExecutionsInput{
				StateMachineArn: aws.String(o.MachineARN(region)), StatusFilter: sfntypes.ExecutionStatusRunning})
			if err != nil {
				return fmt.Errorf("read the orchestrator of %s: %w", region, err)
			}
			if len(running.Executions) == 0 {
				break
			}
			if err := release.Wait(ctx, lookEvery); err != nil {
				return err
			}
		}
	}
	return nil
}

// Deploy implements fleet.Orchestrator by one execution a region.
func (o *orchestrated) Deploy(ctx context.Context, wave string, cells []customer.Settings, version string) error {
	lists, err := o.synthesise(ctx, cells, version)
	if err != nil {
		return err
	}
	var all sync.WaitGroup
	errs := make(chan error, len(lists))
	for region, of := range regions(cells) {
		all.Go(func() {
			input, err := o.publish.List(ctx, o.Bucket(region), version, wave, lists[region])
			if err == nil {
				err = o.runMachine(ctx, region, wave, version, input, of)
			}
			if err != nil {
				errs <- fmt.Errorf("%s in %s: %w", wave, region, err)
			}
		})
	}
	all.Wait()
	close(errs)
	for failed := range errs {
		err = errors.Join(err, failed)
	}
	return err
}

// synthesise publishes the cells, some at a time, and returns their entries by region.
func (o *orchestrated) synthesise(ctx context.Context, cells []customer.Settings, version string) (
	lists map[string][]orchestrator.Cell, err error) {
	lists = map[string][]orchestrator.Cell{}
	var all sync.WaitGroup
	var mu sync.Mutex
	turns := make(chan struct{}, o.parallel)
	for _, of := range cells {
		turns <- struct{}{}
		all.Go(func() {
			defer func() { <-turns }()
			c, failed := o.synthesiseOne(ctx, of, version)
			mu.Lock()
			defer mu.Unlock()
			if failed != nil {
				err = errors.Join(err, fmt.Errorf("%s: %w", of.Name(), failed))
			}
			lists[of.Region] = append(lists[of.Region], c)
		})
	}
	all.Wait()
	return lists, err
}

func (o *orchestrated) synthesiseOne(ctx context.Context, of customer.Settings, version string) (c orchestrator.Cell,
	err error) {
	folder := filepath.Join("build", "fleet")
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return c, err
	}
	path := filepath.Join(folder, of.Name()+".log")
	log, err := os.Create(path)
	if err != nil {
		return c, err
	}
	defer func() { err = errors.Join(err, log.Close()) }()
	do := orderOf(of, version, folder)
	do.context = append(do.context, "-c", "releases="+o.Buckets())
	do.log = log
	if do.credentials, err = o.cells.sessions.of(ctx, of); err != nil {
		return c, err
	}
	if err := check(ctx, do, strings.NewReader(""), log); err != nil {
		return c, fmt.Errorf("see %s: %w", path, err)
	}
	if err := prepareRestored(ctx, do, wait); err != nil {
		return c, err
	}
	if err := cdk(ctx, do, "synth", "--quiet"); err != nil {
		return c, fmt.Errorf("see %s: %w", path, err)
	}
	return o.publish.Publish(ctx, of, version, filepath.Join(folder, of.Name()))
}

// exists implements fleet.Publisher.Exists. A stack that has only a change set does not exist yet.
func (o *orchestrated) exists(ctx context.Context, of customer.Settings, name string) (bool, error) {
	credentials, err := o.cells.sessions.of(ctx, of)
	if err != nil {
		return false, err
	}
	cfg := in(o.cfg, of.Region)
	cfg.Credentials = credentials
	out, err := cloudformation.NewFromConfig(cfg).DescribeStacks(ctx,
		&cloudformation.DescribeStacksInput{StackName: &name})
	if missing(err) {
		return false, nil
	}
	return err == nil && len(out.Stacks) == 1 && out.Stacks[0].StackStatus != types.StackStatusReviewInProgress, err
}

// runMachine runs the state machine of a region, and finishes each cell once the machine has deployed it.
func (o *orchestrated) runMachine(ctx context.Context, region, wave, version string, input orchestrator.Input,
	cells []customer.Settings) error {
	text, err := json.Marshal(input)
	if err != nil {
		return err
	}
	client := sfn.NewFromConfig(in(o.cfg, region))
	begun, err := client.StartExecution(ctx, &sfn.StartExecutionInput{StateMachineArn: aws.String(o.MachineARN(region)),
		Name: aws.String(fmt.Sprintf("%s-%s-%d", wave, version, time.Now().Unix())), Input: aws.String(string(text))})
	if err != nil {
		return err
	}
	finished := map[string]bool{}
	for {
		is, err := client.DescribeExecution(ctx, &sfn.DescribeExecutionInput{ExecutionArn: begun.ExecutionArn})
		if err != nil {
			return fmt.Errorf("read %s: %w", aws.ToString(begun.ExecutionArn), err)
		}
		if err := o.finishDeployed(ctx, region, version, cells, finished); err != nil {
			return err
		}
		switch is.Status {
		case sfntypes.ExecutionStatusSucceeded:
			return nil
		case sfntypes.ExecutionStatusRunning:
		default:
			return fmt.Errorf("the execution %s is %s: %s", aws.ToString(begun.ExecutionArn), is.Status,
				aws.ToString(is.Cause))
		}
		if err := release.Wait(ctx, lookEvery); err != nil {
			return err
		}
	}
}

// finishDeployed finishes the cells that the table has with the version, each once.
func (o *orchestrated) finishDeployed(ctx context.Context, region, version string, cells []customer.Settings,
	finished map[string]bool) error {
	deployed, err := o.deployed(ctx, region)
	if err != nil {
		return err
	}
	for _, c := range cells {
		if deployed[c.Name()] != version || finished[c.Name()] {
			continue
		}
		if err := o.finish(ctx, c); err != nil {
			return fmt.Errorf("%s: %w", c.Name(), err)
		}
		finished[c.Name()] = true
		if _, err := fmt.Fprintf(o.out, "%s runs %s\n", c.Name(), version); err != nil {
			return err
		}
	}
	return nil
}

// deployed returns the versions of the cells of a region in the table.
func (o *orchestrated) deployed(ctx context.Context, region string) (map[string]string, error) {
	versions := map[string]string{}
	pages := dynamodb.NewScanPaginator(dynamodb.NewFromConfig(in(o.cfg, region)),
		&dynamodb.ScanInput{TableName: aws.String(orchestrator.TableName)})
	for pages.HasMorePages() {
		page, err := pages.NextPage(ctx)
		if err != nil {
			return nil, fmt.Errorf("read the table of the cells in %s: %w", region, err)
		}
		for _, it := range page.Items {
			name, _ := it["cell"].(*dynamodbtypes.AttributeValueMemberS)
			version, _ := it["deployed"].(*dynamodbtypes.AttributeValueMemberS)
			if name != nil && version != nil {
				versions[name.Value] = version.Value
			}
		}
	}
	return versions, nil
}

// buckets implements fleet.Store with the buckets of all regions.
type buckets struct{ cfg aws.Config }

// client returns the client of the region of a bucket, with which its name ends.
func (b buckets) client(bucket string) *s3.Client {
	parts := strings.Split(bucket, "-")
	return s3.NewFromConfig(in(b.cfg, strings.Join(parts[max(len(parts)-3, 0):], "-")))
}

// Has implements fleet.Store by the head of the object.
func (b buckets) Has(ctx context.Context, bucket, key string) (bool, error) {
	_, err := b.client(bucket).HeadObject(ctx, &s3.HeadObjectInput{Bucket: &bucket, Key: &key})
	if none := (*s3types.NotFound)(nil); errors.As(err, &none) {
		return false, nil
	}
	return err == nil, err
}

// Put implements fleet.Store, and replaces an earlier object.
func (b buckets) Put(ctx context.Context, bucket, key string, content []byte) error {
	_, err := b.client(bucket).PutObject(ctx, &s3.PutObjectInput{Bucket: &bucket, Key: &key,
		Body: bytes.NewReader(content)})
	return err
}
