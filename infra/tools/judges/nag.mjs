// Runs cdk-nag (AwsSolutions and Serverless) over synthesised templates, and prints each
// finding that the template does not accept: rule, logical id, description. Its exit
// status is 1 if there is one.
// Usage: node nag.mjs <packages> <out> <template>...
import { createRequire } from 'node:module';
import { readFileSync } from 'node:fs';
import { basename, join } from 'node:path';

const [packages, out, ...templates] = process.argv.slice(2);
const require = createRequire(join(packages, 'nag.js'));
const { App, LegacyStackSynthesizer, Stack, Validations } = require('aws-cdk-lib');
const { CfnInclude } = require('aws-cdk-lib/cloudformation-include');
const { AwsSolutionsChecks, ServerlessChecks } = require('cdk-nag');

const app = new App({ outdir: out, analyticsReporting: false });
const accepted = {};
for (const file of templates) {
  const name = basename(file, '.template.json');
  const { Resources } = JSON.parse(readFileSync(file, 'utf8'));
  for (const [id, { Metadata }] of Object.entries(Resources)) {
    accepted[`${name}/Included/${id}`] = (Metadata?.cdk_nag?.rules_to_suppress ?? []).map((rule) => rule.id);
  }
  new CfnInclude(new Stack(app, name, { synthesizer: new LegacyStackSynthesizer() }), 'Included', { templateFile: file });
}
Validations.of(app).addPlugins(new AwsSolutionsChecks(app));
Validations.of(app).addPlugins(new ServerlessChecks(app));
try {
  app.synth();
} catch (error) {
  // Findings end the synthesis with an error; they are in the report.
}
const { pluginReports } = JSON.parse(readFileSync(join(out, 'validation-report.json'), 'utf8'));
for (const { violations } of pluginReports) {
  for (const { ruleName, description, violatingConstructs } of violations) {
    for (const { constructPath } of violatingConstructs) {
      const rule = ruleName.replace(/\[.*$/s, '');
      if (accepted[constructPath].includes(rule)) continue;
      console.log(`${ruleName}\t${constructPath}\t${description}`);
      process.exitCode = 1;
    }
  }
}
