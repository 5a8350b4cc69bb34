// Package system runs the service on one machine. The CDK CLI deploys the synthesised template
// onto an emulated AWS, whose Lambda runs the functions as processes, behind a proxy that makes
// it look like the deployed API. Several systems can run at once; each keeps its files in its
// own folder.
package system
