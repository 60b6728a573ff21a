import { parser } from '@prometheus-io/lezer-promql';

type SyntaxNode = ReturnType<typeof parser.parse>['topNode'];

/** Metric that a PromQL expression selects, with its label matchers. */
export interface Selected {
  readonly metric: string;
  readonly matchers: readonly { readonly label: string; readonly value: string }[];
}

/** Metrics and labels that a PromQL expression names. */
export interface PromQl {
  readonly selected: readonly Selected[];
  /** Labels in `by`, `without`, `on`, `ignoring` and so on. */
  readonly grouped: readonly string[];
}

/** Parses a PromQL expression. @throws Error if the expression is invalid */
export function parsePromQl(text: string): PromQl {
  const selected: Selected[] = [];
  const grouped: string[] = [];
  const textOf = ({ from, to }: { readonly from: number; readonly to: number }) =>
    text.slice(from, to);
  parser.parse(text).iterate({
    enter: (node) => {
      if (node.type.isError) throw new Error(`Invalid PromQL at ${node.from}: ${text}`);
      if (node.name === 'VectorSelector') selected.push(readSelector(node.node, textOf));
      if (node.name === 'GroupingLabels') {
        grouped.push(...node.node.getChildren('LabelName').map(textOf));
      }
    },
  });
  return { selected, grouped };
}

function readSelector(node: SyntaxNode, textOf: (node: SyntaxNode) => string): Selected {
  const name = node.getChild('Identifier');
  const matchers = node.getChild('LabelMatchers')?.getChildren('UnquotedLabelMatcher') ?? [];
  return {
    metric: name === null ? '' : textOf(name),
    matchers: matchers.map((matcher) => {
      const [label, value] = [matcher.getChild('LabelName'), matcher.getChild('StringLiteral')];
      return {
        label: label === null ? '' : textOf(label),
        value: value === null ? '' : textOf(value).slice(1, -1),
      };
    }),
  };
}
