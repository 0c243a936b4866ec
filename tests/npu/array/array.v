// The NPU's cube as hardware: an array of M x N units, each a pipelined dot product of K pairs, works on one block a
// cycle.  Operands and sums lie in blocks as docs/NPU.md says; the sequencer goes along columns, then the sum, then rows.
module dot #(parameter K = 16, W = 16, S = 32) (
    input clk,
    input [K*W-1:0] a,
    input [K*W-1:0] b,
    output [S-1:0] sum
);
  /* verilator no_inline_module */
  localparam LEVELS = $clog2(K);
  reg [S-1:0] part[0:LEVELS][0:K-1];
  genvar l, i;
  generate
    for (i = 0; i < K; i = i + 1) begin : product
      always @(posedge clk) part[0][i] <= $signed(a[i*W+:W]) * $signed(b[i*W+:W]);
    end
    for (l = 1; l <= LEVELS; l = l + 1) begin : level
      for (i = 0; i < K >> l; i = i + 1) begin : pair
        always @(posedge clk) part[l][i] <= part[l-1][2*i] + part[l-1][2*i+1];
      end
    end
  endgenerate
  assign sum = part[LEVELS][0];
endmodule

module array #(parameter M = 16, N = 16, K = 16, W = 16, S = 32, BLOCKS = 64) (
    input clk,
    input start,
    input add,
    input [15:0] m,
    input [15:0] n,
    input [15:0] k,
    output reg busy
);
  localparam STEPS = $clog2(K) + 2;  // operands read, multiplied, summed; then the sums are written
  reg [M*K*W-1:0] a[0:BLOCKS-1] /* verilator public */;
  reg [N*K*W-1:0] b[0:BLOCKS-1] /* verilator public */;
  reg [M*N*S-1:0] c[0:BLOCKS-1] /* verilator public */;

  // ---- sequencer
  wire [15:0] rows = (m + M - 1) / M, columns = (n + N - 1) / N, sums = (k + K - 1) / K;
  reg [15:0] row, column, part;
  reg issuing, adds;
  wire last_column = column == columns - 1, last_part = part == sums - 1, last_row = row == rows - 1;
  always @(posedge clk)
    if (start) begin
      {row, column, part} <= 0;
      issuing <= 1;
      adds <= add;
    end else if (issuing) begin
      column <= last_column ? 0 : column + 1;
      if (last_column) part <= last_part ? 0 : part + 1;
      if (last_column && last_part) row <= row + 1;
      if (last_column && last_part && last_row) issuing <= 0;
    end

  // ---- operands: what lies beyond the sum's end counts as 0
  reg [M*K*W-1:0] left;
  reg [N*K*W-1:0] right;
  wire [15:0] depth = k - part * K;
  integer i, j;
  always @(posedge clk) begin
    left <= a[row*sums+part];
    for (i = 0; i < N; i = i + 1)
      for (j = 0; j < K; j = j + 1)
        right[(i*K+j)*W+:W] <= j < depth ? b[column*sums+part][(i*K+j)*W+:W] : 0;
  end

  // ---- units
  wire [M*N*S-1:0] sum;
  genvar r, q;
  generate
    for (r = 0; r < M; r = r + 1) begin : unit_row
      for (q = 0; q < N; q = q + 1) begin : unit
        dot #(K, W, S) u (clk, left[r*K*W+:K*W], right[q*K*W+:K*W], sum[(r*N+q)*S+:S]);
      end
    end
  endgenerate

  // ---- where each block under way belongs, and its sums
  reg [STEPS:1] valid, fresh;
  reg [15:0] to[1:STEPS], high[1:STEPS], wide[1:STEPS];
  integer s, x, y;
  always @(posedge clk) begin
    valid <= {valid[STEPS-1:1], issuing};
    fresh <= {fresh[STEPS-1:1], part == 0 && !adds};
    to[1] <= row * columns + column;
    high[1] <= m - row * M;
    wide[1] <= n - column * N;
    for (s = 2; s <= STEPS; s = s + 1) begin
      to[s] <= to[s-1];
      high[s] <= high[s-1];
      wide[s] <= wide[s-1];
    end
    for (x = 0; x < M; x = x + 1)
      for (y = 0; y < N; y = y + 1)
        if (valid[STEPS] && x < high[STEPS] && y < wide[STEPS])
          c[to[STEPS]][(x*N+y)*S+:S] <= (fresh[STEPS] ? 0 : c[to[STEPS]][(x*N+y)*S+:S]) + sum[(x*N+y)*S+:S];
    busy <= start || issuing || |valid[STEPS-1:1];
  end
endmodule
